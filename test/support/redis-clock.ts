import type { Clock } from '../../src/index.ts'
import type { RedisClient } from '../../src/redis/index.ts'

const TIME = "redis.call('TIME')"

/** Runs the real scripts in a real server, with one change: the wall clock of a test provides the time. */
export function onClock(command: (args: string[]) => Promise<unknown>, clock: Pick<Clock, 'wallNow'>): RedisClient {
  return {
    async command(args) {
      // A digest would name the unchanged script.
      if (args[0] === 'EVALSHA') throw new Error('NOSCRIPT')
      if (args[0] !== 'EVAL') return command(args)
      const [name, text = '', ...rest] = args
      if (!text.includes(TIME)) return command(args)
      const now = clock.wallNow()
      return command([name, text.replace(TIME, `{ ${Math.floor(now / 1_000)}, ${(now % 1_000) * 1_000} }`), ...rest])
    },
  }
}
