import { describe, expect, it } from '@jest/globals'
import { memoryStore } from '../../src/index.ts'
import { held, manage, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/virtual-clock.ts'

/** Two managers on one store, both with the token that the first has got; it is due, and the first renews it. */
async function dueForBoth(random = 0) {
  const store = memoryStore()
  const source = new ScriptedSource({ pairs: true })
  const first = manage(source, { store, renewal: { keepWarm: 'never' } })
  const second = manage(source, { store, renewal: { keepWarm: 'never', jitter: 0 }, random: () => random }, first.clock)
  await first.tokens.getAccessToken()
  await second.tokens.getAccessToken()
  await first.clock.advance(45_000)
  const gate = held(() => source.grant())
  source.script.push(gate.answer)
  first.tokens.peekAccessToken()
  await settle()
  second.tokens.peekAccessToken()
  await settle()
  return { first, second, source, gate, clock: first.clock }
}

describe('given a token that another owner renews', () => {
  it('when ours still serves, then nobody asks how it goes until it must', async () => {
    const { first, second, gate, clock } = await dueForBoth()
    gate.open()
    await clock.advance(11_999)
    expect(second.tokens.status()).toMatchObject({ renewing: true, counts: { adoptions: 1 } })
    await clock.advance(1)
    expect(second.tokens.status()).toMatchObject({
      renewing: false,
      counts: { obtains: 0, refreshes: 0, adoptions: 2 },
    })
    expect(second.tokens.peekAccessToken()).toBe(first.tokens.peekAccessToken())
  })

  it.each([
    [0, 250],
    [0.5, 187.5],
  ])(
    'when somebody comes who cannot do with ours, then the other is asked at once, and again soon (jitter %d: %d ms)',
    async (random, pollMs) => {
      const { second, source, gate, clock } = await dueForBoth(random)
      const waiting = second.tokens.replaceAccessToken('access-1')
      await settle()
      gate.open()
      await clock.advance(pollMs - 1)
      expect(second.tokens.status()).toMatchObject({ renewing: true })
      await clock.advance(1)
      expect(second.tokens.status()).toMatchObject({ renewing: false })
      expect(await waiting).toBe('access-2')
      expect(source.kinds).toBe('obtain refresh')
    },
  )

  it('when ours is closed meanwhile, then it asks no more', async () => {
    const { second, gate, clock } = await dueForBoth()
    await second.tokens.close()
    gate.open()
    await clock.advance(60_000)
    expect(second.tokens.status()).toMatchObject({ phase: 'closed', renewing: false, counts: { adoptions: 1 } })
  })
})
