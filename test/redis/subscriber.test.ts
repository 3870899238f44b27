import { expect, it } from '@jest/globals'
import { createTokenManager } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { redisStore, type RedisSubscriber } from '../../src/redis/index.ts'
import { outcome } from '../support/managed.ts'
import { onClock } from '../support/redis-clock.ts'
import { describeRedis } from '../support/redis-server.ts'
import { StrictService } from '../support/strict-service.ts'
import { World } from './world.ts'

/** Waits in real time: notifications arrive over a socket that no test clock moves. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

describeRedis('given a login of two processes in a real Redis, with subscribers', () => {
  const world = new World()

  async function start(subscriber: RedisSubscriber) {
    const client = await world.connect()
    const reads = { count: 0 }
    const send = (args: string[]) => {
      if (args.length < 6) reads.count += 1
      return client.sendCommand(args)
    }
    const store = redisStore({ client: onClock(send, world.clock), subscriber, commandTimeoutMs: 60_000 })
    const source = new StrictService().source()
    const renewal = { keepWarm: 'never', jitter: 0 } as const
    const tokens = createTokenManager({ source, store, clock: world.clock, storeKey: 'ada', renewal }) as LoginManager
    return { tokens, reads }
  }
  const LOGIN = { accessToken: 'a', accessLifetimeMs: 3_600_000, refreshToken: 'r' }

  it.each<[string, () => Promise<RedisSubscriber>]>([
    ['node-redis', () => world.connect()],
    ['ioredis', () => world.ioredis()],
  ])(
    'when the user logs out in one, then the other notices without checks, although its subscription was broken (%s)',
    async (_, open) => {
      const [first, second] = [await start(await open()), await start(await open())]
      await first.tokens.adopt(LOGIN)
      await second.tokens.getAccessToken()
      const subscribed = async () =>
        Number(((await world.server.command('PUBSUB', 'NUMSUB', 'axios-evergreen')) as unknown[])[1])
      while ((await subscribed()) < 2) await new Promise((resolve) => setTimeout(resolve, 10))
      // The first check is due anyway.
      await world.clock.advance(31_000)
      await first.tokens.getAccessToken()
      await second.tokens.getAccessToken()
      const before = first.reads.count
      for (let minute = 0; minute < 20; minute += 1) {
        await world.clock.advance(60_000)
        await first.tokens.getAccessToken()
      }
      expect(first.reads.count).toBe(before)
      // What is published now reaches no subscriber: they reconnect, and owners check.
      await world.server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await second.tokens.logout()
      let ended: unknown
      await until(() => {
        void world.clock.advance(1_000)
        void outcome(first.tokens.getAccessToken()).then((token) => (ended = token))
        return ended instanceof Error
      })
      expect(ended).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'logged-out' })
      await Promise.all([first.tokens.close(), second.tokens.close()])
    },
  )
})
