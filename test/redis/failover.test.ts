import { expect, it } from '@jest/globals'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { redisStore } from '../../src/redis/index.ts'
import { manage, outcome, type ScriptedSource } from '../support/managed.ts'
import { onClock } from '../support/redis-clock.ts'
import { describeRedis, type RedisServer, startRedis } from '../support/redis-server.ts'
import { StrictService } from '../support/strict-service.ts'
import { liveThroughLoss } from '../support/lost-writes.ts'
import { Traffic } from '../support/traffic.ts'
import { type NodeRedis, World } from './world.ts'

/** Makes `replica` a replica of `master`, with all of its data. */
async function follow(replica: RedisServer, master: RedisServer): Promise<void> {
  await replica.command('REPLICAOF', '127.0.0.1', String(master.port))
  const isInSync = async () => String(await replica.command('INFO', 'replication')).includes('link_status:up')
  while (!(await isInSync())) await new Promise((resolve) => setTimeout(resolve, 20))
}

describeRedis('given twenty logins in a Redis, and a replica that lacks the last write of each', () => {
  const world = new World()

  it('when the master dies and the replica takes over, then no login is lost, and waiting callers get a token within 2 s of the check by the process that has the token set (F349)', async () => {
    const [master, replica] = [await startRedis(), await startRedis()]
    await follow(replica, master)
    const { clock } = world
    let client: NodeRedis = await world.connect(master.url)
    const send = (args: string[]) => client.sendCommand(args)
    const logins = Array.from({ length: 20 }, (_, n) => {
      const service = new StrictService()
      const process = () => {
        const store = redisStore({ client: onClock(send, clock), commandTimeoutMs: 60_000 })
        const options = { store, storeKey: `person ${n}`, renewal: { keepWarm: 'never', jitter: 0 } } as const
        return manage(service.source() as ScriptedSource, options, clock).tokens
      }
      return { service, a: process(), b: process() }
    })
    await Promise.all(logins.map(({ a, service }) => a.adopt(service.grant())))
    await Promise.all(logins.map(({ b }) => b.getAccessToken()))
    while (Number(await replica.command('DBSIZE')) < 20) await new Promise((resolve) => setTimeout(resolve, 20))
    // From here on the replica is cut off.
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await clock.advance(50_000)
    await Promise.all(logins.map(({ a }) => a.renew()))
    await master.kill()
    client = await world.connect(replica.url)
    await clock.advance(11_000)
    const waits = await Promise.all(logins.map(({ b }) => outcome(b.getAccessToken())))
    expect(waits).toEqual(Array(20).fill(expect.objectContaining({ code: 'ERR_STORE_UNAVAILABLE' })))
    await Promise.all(logins.map(({ a }) => internalsOf(a)!.checkLogin!()))
    await clock.advance(2_000)
    expect(await Promise.all(logins.map(({ b }) => outcome(b.getAccessToken())))).toEqual(Array(20).fill('access-1'))
    await clock.advance(60_000)
    expect(await Promise.all(logins.map(({ b }) => outcome(b.getAccessToken())))).toEqual(Array(20).fill('access-2'))
    expect(logins.filter(({ service }) => service.hasEnded)).toEqual([])
    await Promise.all([master.stop(), replica.stop()])
  })
})

describeRedis('given twenty logins, each in three processes whose users ask once a second', () => {
  const world = new World()

  /** A store that loses writes, at first at `server`. */
  async function through(
    name: string,
    server: RedisServer,
    place: { part(): Promise<void>; lose(): Promise<RedisServer> },
  ) {
    const { clock } = world
    const traffic = new Traffic()
    let client = await world.connect(server.url)
    const send = traffic.counted((args: string[]) => client.sendCommand(args))
    const lose = async () => void (client = await world.connect((await place.lose()).url))
    const store = () => redisStore({ client: onClock(send, clock) })
    await liveThroughLoss({ ...place, name, store, lose }, clock, traffic)
  }

  it('when a replica without the last renewal of each is promoted, then no login is lost (F349)', async () => {
    const [master, replica] = [await startRedis(), await startRedis()]
    await follow(replica, master)
    await through('Redis, a replica promoted', master, {
      async part() {
        while (Number(await replica.command('DBSIZE')) < 20) await new Promise((resolve) => setTimeout(resolve, 20))
        await replica.command('REPLICAOF', 'NO', 'ONE')
      },
      async lose() {
        await master.kill()
        return replica
      },
    })
    await Promise.all([master.stop(), replica.stop()])
  })

  it('when an RDB file from before the last renewal of each is put back, then no login is lost (F349)', async () => {
    const server = await startRedis()
    await through('Redis, an RDB file put back', server, {
      part: async () => void (await server.command('SAVE')),
      async lose() {
        await server.kill()
        await server.restart()
        return server
      },
    })
    await server.stop()
  })
})
