import { beforeAll, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { seed } from '../properties/runs.ts'
import { part } from '../support/part.ts'
import { bundleSource } from '../support/bundle.ts'
import { describeRedis } from '../support/redis-server.ts'

const ROUNDS = part(10, 5)
/** A limit against hanging. Counts decide, not time. */
const LIMIT_MS = 1_200_000

describeRedis('given twenty processes that share one token', () => {
  let library: string
  beforeAll(async () => {
    library = await bundleSource()
  })

  it(
    'when the one that renews is killed or frozen at random steps, then no other process notices, and thirty busy ones that start cold make at most three token requests (F136, F176, P19, P20)',
    async () => {
      // The bundle has the main entry and Redis, and PostgreSQL is promoted by hand.
      const args = ['--rounds', String(ROUNDS), '--seconds', '0', '--promotions', '0', '--seed', String(seed)]
      const env = { ...process.env, EVERGREEN: library }
      const [error, printed] = await new Promise<[Error | null, string]>((resolve) => {
        execFile(
          process.execPath,
          ['scripts/soak.mjs', 'fleet', ...args],
          { env, timeout: LIMIT_MS },
          (error, stdout, stderr) => resolve([error, stdout + stderr]),
        )
      })
      // If an assertion fails, the message shows the seed.
      expect(printed).toContain('Everything held.')
      expect(printed).toMatch(/kept {4}[1-3] token requests until all of them had a token/)
      expect(printed.match(/SIG(KILL|STOP) \d+ ms after/g)).toHaveLength(ROUNDS)
      expect(error).toBeNull()
    },
    2 * LIMIT_MS,
  )
})
