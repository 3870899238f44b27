import { describe, expect, it } from '@jest/globals'
import type { AxiosAdapter } from 'axios'
import { gate } from '../axios/support/turns.ts'
import { adapterTo } from '../support/in-process-service.ts'
import { listen } from '../support/managed.ts'
import { TokenServiceModel } from '../support/token-service-model.ts'
import { createTokenManager, loginPassword } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

/** Two managers whose first obtain completes when the gate opens. @param isShared Whether they have one source. */
function startTwo(isShared: boolean) {
  const clock = manualClock()
  const service = new TokenServiceModel(clock)
  const answering = adapterTo(service, () => clock.wallNow())
  const held = gate()
  let calls = 0
  const adapter: AxiosAdapter = async (config) => {
    calls += 1
    const isFirst = calls === 1
    const answer = await answering(config)
    if (isFirst) await held.opened
    return answer
  }
  const sourceOf = () => loginPassword({ baseUrl: 'https://tokens.example', ...service.login, transport: { adapter } })
  const shared = sourceOf()
  const managers = [0, 1].map(() =>
    createTokenManager({ source: isShared ? shared : sourceOf(), clock, random: () => 0 }),
  )
  return { clock, service, managers, held, told: managers.map((tokens) => listen(tokens)) }
}

describe('given two managers of Variant B whose responses overtake each other', () => {
  it.each([
    [true, ['ERR_SIGNATURE'], 3],
    [false, [], 2],
  ])(
    'when they share one source is %p, then the late response costs %p, and both have a token',
    async (isShared, errors, obtains) => {
      const { clock, service, managers, held, told } = startTwo(isShared)
      const first = managers[0]!.getAccessToken()
      await clock.advance(1_000)
      await managers[1]!.getAccessToken()
      held.open()
      await clock.advance(5_000)
      expect(await first).toEqual(expect.any(String))
      expect([told[0]!.retry.map(({ error }) => error.code), service.heard.length]).toEqual([errors, obtains])
      await Promise.all(managers.map((tokens) => tokens.close()))
    },
  )
})
