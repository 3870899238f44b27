import { expect, it } from '@jest/globals'
import type { TokenManagerOptions, TokenStore } from '../../src/index.ts'
import { postgresStore } from '../../src/postgres/index.ts'
import { redisStore } from '../../src/redis/index.ts'
import { World as PostgresWorld } from '../postgres/world.ts'
import { dice } from '../../scripts/lib/dice.mjs'
import { printFigure } from '../support/figure.ts'
import { held, manage, ScriptedSource } from '../support/managed.ts'
import { onClock as postgresOnClock } from '../support/postgres-clock.ts'
import { describeSharedPostgres } from '../support/postgres-server.ts'
import { onClock as redisOnClock } from '../support/redis-clock.ts'
import { describeSharedRedis, redisOfSuite } from '../support/redis-server.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { Traffic } from '../support/traffic.ts'

function commandFigures(name: string, create: (clock: ManualClock, traffic: Traffic) => TokenStore): void {
  function start() {
    const clock = manualClock()
    const traffic = new Traffic()
    const source = new ScriptedSource({ pairs: true })
    const process = (options: Partial<TokenManagerOptions> = {}) =>
      manage(source, { store: create(clock, traffic), ...options }, clock).tokens
    const advance = async (ms: number, step = 100) => {
      for (let at = 0; at < ms; at += step) {
        await clock.advance(step)
        await traffic.idle()
      }
    }
    const counted = async (work: () => Promise<unknown>) => {
      const before = traffic.commands
      await work()
      await traffic.idle()
      return traffic.commands - before
    }
    return { clock, traffic, source, process, advance, counted }
  }

  it('when a process renews, then that takes at most four commands, and an adoption at most three', async () => {
    const { process, counted } = start()
    const [first, second] = [process(), process()]
    expect(await counted(() => first.getAccessToken())).toBeLessThanOrEqual(4)
    expect(await counted(() => second.getAccessToken())).toBeLessThanOrEqual(3)
    expect(await counted(() => first.renew())).toBeLessThanOrEqual(4)
    expect(await counted(() => second.replaceAccessToken('access-1'))).toBeLessThanOrEqual(3)
  })

  it.each([
    [1, 3],
    [50, 1.2],
  ])(
    'when %d processes are used for half an hour, then a renewal costs each of them at most %d commands',
    async (count, most) => {
      const { clock, source, process, advance, counted, traffic } = start()
      source.lifetimeMs = 300_000
      const fleet = Array.from({ length: count }, (_, n) => process({ random: dice(n + 1).random }))
      const use = async (seconds: number) => {
        for (let second = 0; second < seconds; second += 5) {
          for (const one of fleet) void one.getAccessToken()
          await traffic.idle()
          await advance(5_000, 200)
        }
      }
      await use(60)
      const callsBefore = source.calls.length
      const startedAt = clock.monotonicNow()
      const commands = await counted(() => use(1_800))
      const renewals = source.calls.length - callsBefore
      expect(renewals).toBeGreaterThan((clock.monotonicNow() - startedAt) / source.lifetimeMs)
      const each = commands / renewals / count
      printFigure(`commands of ${name} for each renewal and process, of ${count}`, each.toFixed(2))
      expect(each).toBeLessThanOrEqual(most)
      // The last token was used, so it is renewed once more.
      await advance(600_000, 60_000)
      const atRest = await counted(() => advance(3_600_000, 60_000))
      printFigure(`commands of ${name} in an hour without callers, of ${count}`, String(atRest))
      expect(atRest).toBe(0)
    },
  )

  it('when a process waits for another, then it sends at most three commands and four a second', async () => {
    const { process, source, advance, counted, traffic } = start()
    const answer = held(() => source.grant())
    source.script.push(answer.answer)
    const renewing = process().getAccessToken()
    while (source.calls.length === 0) await traffic.idle()
    let waiting: Promise<string> | undefined
    const seconds = 5
    const commands = await counted(async () => {
      waiting = process().getAccessToken()
      await traffic.idle()
      await advance(seconds * 1_000)
    })
    expect(commands).toBeGreaterThan(seconds)
    expect(commands).toBeLessThanOrEqual(3 + 4 * seconds)
    answer.open()
    await renewing
    await advance(1_000)
    expect(await waiting).toBe('access-1')
  })

  it('when no caller needs a token any more, then nothing is sent', async () => {
    const { process, advance, counted } = start()
    const fleet = [process(), process(), process()]
    for (const one of fleet) await one.getAccessToken()
    // The token was used, so the manager renews it once more.
    await advance(120_000, 1_000)
    expect(await counted(() => advance(3_600_000, 60_000))).toBe(0)
  })
}

describeSharedRedis('given the commands that a shared token costs in Redis', () => {
  const command = redisOfSuite()
  let runs = 0
  commandFigures('Redis', (clock, traffic) => {
    // Each test has its own clock, so it gets its own prefix.
    const prefix = `figures-${process.pid}-${clocks.get(clock) ?? (clocks.set(clock, (runs += 1)), runs)}`
    return redisStore({ client: redisOnClock(traffic.counted(command), clock), prefix })
  })
})

describeSharedPostgres('given the commands that a shared token costs in PostgreSQL', () => {
  const world = new PostgresWorld()
  const pools = new WeakMap<ManualClock, ReturnType<typeof world.pool>>()
  commandFigures('PostgreSQL', (clock, traffic) => {
    const pool = pools.get(clock) ?? world.pool()
    pools.set(clock, pool)
    const query = traffic.counted(
      (text: string, values: unknown[]) => pool.query(text, values) as Promise<{ rows: unknown[] }>,
    )
    return postgresStore({ pool: postgresOnClock({ query }, clock) })
  })
})

const clocks = new WeakMap<ManualClock, number>()
