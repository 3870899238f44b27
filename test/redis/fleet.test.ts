import { it } from '@jest/globals'
import * as fc from 'fast-check'
import { type Behaviour, endings, type Scripts } from '../properties/rotating-service.ts'
import { patience, runs } from '../properties/runs.ts'
import { describeRedis, redisOfSuite, startRedis } from '../support/redis-server.ts'
import { type Act, Fleet, PROCESSES } from './fleet.ts'

const RUNS = 150

const process = fc.nat(PROCESSES - 1)
const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  ends: fc.oneof({ weight: 3, arbitrary: fc.constant('accepted' as const) }, fc.constantFrom(...endings)),
  takesMs: fc.constantFrom(0, 50, 400, 9_000),
})
/** What the service does with the next exchanges. All later exchanges succeed. */
const scripts: fc.Arbitrary<Scripts> = fc.record({
  obtain: fc.array(behaviour, { maxLength: 4 }),
  refresh: fc.array(behaviour, { maxLength: 8 }),
})
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constant('ask' as const), process }) },
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant('advance' as const),
      ms: fc.constantFrom(100, 1_000, 16_000, 45_000, 58_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('replace' as const), process }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('renew' as const), process }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom('refuse' as const, 'lose' as const),
      process,
      times: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constantFrom('kill' as const, 'freeze' as const, 'thaw' as const), process }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('flush' as const, 'script flush' as const) }) },
)

describeRedis('given a fleet on one account, and any deaths, stalls, lost replies and responses', () => {
  const command = redisOfSuite(startRedis)
  let prefixes = 0

  it(
    'then no refresh token is presented twice or without a lease, no alarm is false, and every caller gets a token in the end (P20)',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 30 }), scripts, async (acts, scripts) => {
          const fleet = new Fleet(command, `fleet-${(prefixes += 1)}`, scripts)
          try {
            for (const one of acts) await fleet.perform(one)
            await fleet.recover()
          } finally {
            await fleet.end()
          }
        }),
        runs(RUNS),
      )
    },
    patience(RUNS),
  )
})
