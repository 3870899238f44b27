import { createHash } from 'node:crypto'
import { expect, it } from '@jest/globals'
import { loginPassword } from '../../src/index.ts'
import { managerOf } from '../axios/support/tokens.ts'
import { listen } from '../support/managed.ts'
import { adapterTo, type Fate } from '../support/in-process-service.ts'
import { TokenServiceModel } from '../support/token-service-model.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

const ROUNDS = 10
const FATES: Fate[] = ['answered', 'stolen before', 'lost before the act', 'lost after the act', '503 after the act']
const fingerprintOf = (token: string) => createHash('sha256').update(token).digest('hex').slice(0, 8)

it('given refresh tokens that are stolen, and responses that are lost, then each theft is reported once, and no loss is reported as one (P22)', async () => {
  const clock = manualClock()
  const service = new TokenServiceModel(clock)
  /** The outcomes of the next refreshes. */
  const fates: Fate[] = []
  const presented: { fate: Fate; token: string }[] = []
  const adapter = adapterTo(
    service,
    () => clock.wallNow(),
    () => fates.shift() ?? 'answered',
  )
  const source = loginPassword({ baseUrl: 'https://tokens.example', ...service.login, transport: { adapter } })
  const tokens = managerOf(source, { clock })
  const told = listen(tokens)
  tokens.on('retry', ({ delayMs }) => clock.advance(delayMs))
  await tokens.getAccessToken()
  for (let round = 0; round < ROUNDS; round += 1)
    for (const next of FATES) {
      presented.push({ fate: next, token: service.refreshTokens.at(-1)!.token })
      fates.push(next)
      await tokens.renew()
      await settle()
      await clock.advance(10_000)
    }
  const suspected = (evidence: string) =>
    told.suspicious.filter((event) => event.evidence === evidence).map(({ fingerprint }) => fingerprint)
  const prints = (which: Fate) => presented.filter((one) => one.fate === which).map(({ token }) => fingerprintOf(token))
  expect(suspected('unexplained')).toEqual(prints('stolen before'))
  // The service rejects these too. Our own request may have spent them, so the severity is low.
  expect(suspected('own-unknown-outcome')).toEqual(prints('503 after the act'))
  expect(told.suspicious).toHaveLength(2 * ROUNDS)
  expect(told.suspicionSettled.map(({ verdict }) => verdict)).toEqual(Array(2 * ROUNDS).fill('token-only'))
})
