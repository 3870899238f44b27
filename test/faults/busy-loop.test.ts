import { afterEach, describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { clientCredentials, createTokenManager } from '../../src/index.ts'
import { redisStore, type RedisClient } from '../../src/redis/index.ts'
import { ADAPTERS } from '../service/world.ts'
import { listen, outcome, ScriptedSource } from '../support/managed.ts'
import { BusyClock, startOtherThread } from '../support/other-thread.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const GRANT = JSON.stringify({
  data: { type: 'auth-token', id: '7', attributes: { access: 'issued-token', expires_in: 60, token_type: 'Bearer' } },
})

describe.each(ADAPTERS)(
  'given a response that waits in its socket while the event loop is busy, and the %s adapter',
  (adapter) => {
    /** A manager whose first token request has a response, which the other thread still holds. */
    const started = async () => {
      const thread = await startOtherThread({ answer: GRANT })
      ends.push(() => thread.stop())
      const clock = new BusyClock()
      const baseUrl = `http://127.0.0.1:${thread.port}`
      const source = clientCredentials({ baseUrl, clientId: 'key', clientSecret: 'secret', transport: { adapter } })
      const retry = { maxAttempts: 1 }
      const tokens = createTokenManager({ source, clock, exchangeTimeoutMs: 1_000, retry })
      const waiting = [outcome(tokens.getAccessToken()), outcome(tokens.getAccessToken({ maxWaitMs: 500 }))]
      await thread.hold()
      return { thread, clock, tokens, waiting: Promise.all(waiting) }
    }

    it('when the loop resumes after the timeouts of exchange and callers, then the response counts (F176)', async () => {
      const { thread, clock, tokens, waiting } = await started()
      thread.stallUntilAnswered()
      clock.stall(1_200)
      expect(await waiting).toEqual(['issued-token', 'issued-token'])
      expect(tokens.status().counts).toMatchObject({ obtains: 1, failures: 0 })
      await tokens.close()
    })

    it('when there was no response at all, then the timeouts apply (F176)', async () => {
      const { clock, tokens, waiting } = await started()
      clock.stall(1_200)
      expect(await waiting).toMatchObject([{ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' }, { code: 'ERR_WAIT_TIMEOUT' }])
      await tokens.close()
    })
  },
)

describeRedis('given a Redis reply that waits in its socket while the event loop is busy', () => {
  const clients: [string, (url: string) => Promise<RedisClient>][] = [
    [
      'node-redis',
      async (url) => {
        const client = createClient({ url })
        await client.connect()
        ends.push(() => client.destroy())
        return client
      },
    ],
    [
      'ioredis',
      async (url) => {
        const client = new Redis(url)
        await client.ping()
        ends.push(() => client.disconnect())
        return client
      },
    ],
  ]

  it.each(clients)(
    'when the loop resumes after the command timeout of %s, then the reply counts (F176)',
    async (_, connect) => {
      const redis = await startRedis()
      ends.push(() => redis.stop())
      const thread = await startOtherThread({ handOnTo: redis.port })
      ends.push(() => thread.stop())
      const clock = new BusyClock()
      const store = redisStore({ client: await connect(`redis://127.0.0.1:${thread.port}`), onUnavailable: 'fail' })
      const tokens = createTokenManager({ source: new ScriptedSource(), store, clock })
      const told = listen(tokens)
      // First the server does not know the script yet, then it does.
      for (const token of ['access-1', 'access-2']) {
        const waiting = outcome(tokens.renew())
        await thread.hold()
        thread.stallUntilAnswered()
        clock.stall(400)
        expect(await waiting).toBeUndefined()
        expect(tokens.peekAccessToken()).toBe(token)
      }
      expect(told.storeUnavailable).toEqual([])
      await tokens.close()
    },
  )
})
