import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { type Bundle, bundleSource } from '../support/bundle.ts'
import { describeRedis } from '../support/redis-server.ts'

const ROUNDS = 10

describeRedis('given twenty processes that share one token', () => {
  let bundle: Bundle
  beforeAll(async () => {
    bundle = await bundleSource()
  }, 60_000)
  afterAll(() => bundle.remove())

  it('when the one that renews is killed or frozen at ten random steps, then nobody else notices (F136, P19, P20)', async () => {
    const args = ['--rounds', String(ROUNDS), '--seconds', '0']
    const env = { ...process.env, EVERGREEN: bundle.url }
    const [error, printed] = await new Promise<[Error | null, string]>((resolve) => {
      execFile(
        process.execPath,
        ['scripts/soak-fleet.mjs', ...args],
        { env, timeout: 150_000 },
        (error, stdout, stderr) => resolve([error, stdout + stderr]),
      )
    })
    // With the seed, if not.
    expect(printed).toContain('Everything held.')
    expect(printed.match(/SIG(KILL|STOP) \d+ ms after/g)).toHaveLength(ROUNDS)
    expect(error).toBeNull()
  }, 180_000)
})
