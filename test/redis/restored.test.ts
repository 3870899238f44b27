import { expect, it } from '@jest/globals'
import type { ExchangeContext, TokenGrant } from '../../src/index.ts'
import { redisStore } from '../../src/redis/index.ts'
import { held, manage, type Managed, outcome } from '../support/managed.ts'
import { onClock } from '../support/redis-clock.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'
import { settle } from '../support/watched-clock.ts'
import { World } from './world.ts'

const HOUR = 3_600_000

describeRedis('given a Redis that does not keep its promises', () => {
  const world = new World()

  it('when it restarts from a snapshot, then each refresh token is presented once, one event says so, and there is no alarm (F177)', async () => {
    const server = await startRedis()
    const first = await world.start({ url: server.url })
    await first.tokens.getAccessToken()
    await server.command('SAVE')
    // Presents the refresh token that is in the snapshot.
    await first.tokens.renew()
    await server.kill()

    await server.restart()
    const second = await world.start({ url: server.url })
    expect(await second.tokens.getAccessToken()).toBe('access-1')
    await second.tokens.renew()
    await second.tokens.renew()
    await settle()
    const presented = world.source.calls.flatMap(({ refreshToken }) => refreshToken ?? [])
    expect(presented).toEqual(['refresh-1', 'refresh-3'])
    expect(world.source.kinds).toBe('obtain refresh obtain refresh')
    expect(second.observed.anomaly.filter(({ kind }) => kind === 'store-restored')).toHaveLength(1)
    expect([...first.observed.suspicious, ...second.observed.suspicious]).toEqual([])
    await server.stop()
  })

  it('when its clock is set back by an hour under load, then no caller gets an expired token or waits longer than a lease (F178)', async () => {
    const { clock, source } = world
    let setBackMs = 0
    let inFlight = 0
    const client = await world.connect()
    const ofServer = { wallNow: () => clock.wallNow() - setBackMs }
    const issuedAt = new Map<string, number>()
    const dead = new Set<number>()
    let lastCaller = -1
    const start = (index: number) => {
      const command = async (args: string[]) => {
        if (dead.has(index)) return new Promise<never>(() => undefined)
        inFlight += 1
        return client.sendCommand(args).finally(() => (inFlight -= 1))
      }
      const called = async (answer: Promise<TokenGrant>) => {
        lastCaller = index
        const grant = await answer
        issuedAt.set(grant.accessToken, clock.monotonicNow())
        return grant
      }
      const own = {
        id: source.id,
        obtain: (context: ExchangeContext) => called(source.obtain(context)),
        refresh: (token: string, context: ExchangeContext) => called(source.refresh!(token, context)),
      }
      const store = redisStore({ client: onClock(command, ofServer) })
      return manage(own as never, { store, exchangeTimeoutMs: 4_000 }, clock)
    }
    const all = [0, 1, 2, 3].map(start)
    // Virtual time stands still until Redis has replied.
    const advance = async (ms: number) => {
      for (const until = clock.monotonicNow() + ms; clock.monotonicNow() < until;) {
        do await settle()
        while (inFlight > 0)
        const next = Math.min(clock.nextTimerAt ?? until, until)
        await clock.advance(Math.max(0, next - clock.monotonicNow()))
      }
    }
    let served = 0
    let longestMs = 0
    let expired = 0
    const request = async ({ tokens }: Managed) => {
      const askedAt = clock.monotonicNow()
      const token = await outcome<unknown>(tokens.getAccessToken())
      longestMs = Math.max(longestMs, clock.monotonicNow() - askedAt)
      if (typeof token !== 'string') return
      served += 1
      if (clock.monotonicNow() > issuedAt.get(token)! + source.lifetimeMs) expired += 1
    }
    const load = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        all.forEach((process, index) => void (dead.has(index) || request(process)))
        await advance(1_000)
      }
    }

    await load(40)
    // The process that renews dies during its lease. The others judge the lease by a clock that is set back by an hour.
    const never = held(() => source.grant())
    source.script.push(never.answer)
    const callsBefore = source.calls.length
    for (let second = 0; source.calls.length === callsBefore && second < 60; second += 1) await load(1)
    dead.add(lastCaller)
    setBackMs = HOUR
    for (let started = all.length; started < 20; started += 1) {
      all.push(start(started))
      await load(10)
    }
    expect(expired).toBe(0)
    expect(longestMs).toBeLessThanOrEqual(6_000)
    expect(served).toBeGreaterThan(600)
    expect(source.calls.length).toBeGreaterThan(callsBefore + 3)
    for (const { observed } of all) expect(observed.suspicious).toEqual([])
    for (const { tokens } of all) void tokens.close()
    await advance(10_000)
  })
})
