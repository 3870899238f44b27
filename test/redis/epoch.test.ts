import { expect, it } from '@jest/globals'
import { redisStore } from '../../src/redis/index.ts'
import { redisRegister } from '../../src/redis/redis-register.ts'
import { held, manage, type Managed } from '../support/managed.ts'
import { describeRedis, startRedis, type RedisServer } from '../support/redis-server.ts'
import { settle } from '../support/watched-clock.ts'
import { World } from './world.ts'

const kindsOf = ({ observed }: Managed) => observed.anomaly.map(({ kind }) => kind)

describeRedis('given a Redis that loses writes', () => {
  const world = new World()
  const presented = () => world.source.calls.flatMap(({ refreshToken }) => refreshToken ?? [])

  /** Makes `replica` a replica of `master`, with all of its data. */
  async function follow(replica: RedisServer, master: RedisServer): Promise<void> {
    await replica.command('REPLICAOF', '127.0.0.1', String(master.port))
    for (
      const isInSync = async () => String(await replica.command('INFO', 'replication')).includes('link_status:up');
      ;
    ) {
      if (await isInSync()) return
      await settle()
    }
  }

  it('when a failover loses the last write, and a failback returns to the same process, then its refresh token is in doubt (F233)', async () => {
    const [master, replica] = [await startRedis(), await startRedis()]
    // The first replica of a master changes its replication id.
    await follow(replica, master)
    const first = await world.start({ url: master.url })
    await first.tokens.getAccessToken()
    await master.command('WAIT', '1', '0')
    // The replica is cut off. What the master stores from now on is lost.
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await first.tokens.renew()
    await follow(master, replica)
    await master.command('REPLICAOF', 'NO', 'ONE')

    const second = await world.start({ url: master.url })
    expect(await second.tokens.getAccessToken()).toBe('access-1')
    await second.tokens.renew()
    await settle()
    expect(presented()).toEqual(['refresh-1'])
    expect(world.source.kinds).toBe('obtain refresh obtain')
    expect(kindsOf(second)).toContain('store-restored')
    expect([...first.observed.suspicious, ...second.observed.suspicious]).toEqual([])
    await master.stop()
    await replica.stop()
  })

  it('when an owner that has seen the earlier epoch meets the new one, then its lease is not stored, and its refresh token is in doubt (F236)', async () => {
    const server = await startRedis()
    const [first, second] = [await world.start({ url: server.url }), await world.start({ url: server.url })]
    await first.tokens.getAccessToken()
    await second.tokens.getAccessToken()
    await server.command('SAVE')
    await first.tokens.renew()
    await server.kill()
    await server.restart()
    while (String(await server.command('CLIENT', 'LIST')).split('\n').length < 4) await settle()
    await second.tokens.renew()
    await settle()
    expect(presented()).toEqual(['refresh-1'])
    expect(kindsOf(second)).toContain('store-restored')
    expect([...first.observed.suspicious, ...second.observed.suspicious]).toEqual([])
    await server.stop()
  })

  it('when a replace was computed from the content of an earlier epoch, then it stores nothing (F236)', async () => {
    const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
    const register = redisRegister(await world.connect(server.url))
    await register.replace('{key}', undefined, 'a', 3_600_000)
    const { epoch } = await register.read('{key}')
    await server.kill()
    await server.restart()
    while (String(await server.command('CLIENT', 'LIST')).split('\n').length < 3) await settle()
    expect(await register.replace('{key}', 'a', 'b', 3_600_000, epoch!)).toBe(false)
    const after = await register.read('{key}')
    expect(after.value).toBe('a')
    expect(after.epoch).not.toBe(epoch)
    expect(await register.replace('{key}', 'a', 'b', 3_600_000, after.epoch!)).toBe(true)
    await server.stop()
  })

  const infos = async () =>
    Number(/cmdstat_info:calls=(\d+)/.exec(String(await world.server.command('INFO', 'commandstats')))![1])

  it('when a token is renewed, then INFO is called once (F303)', async () => {
    const { tokens } = await world.start()
    await tokens.getAccessToken()
    await tokens.renew()
    const before = await infos()
    for (let n = 0; n < 5; n += 1) await tokens.renew()
    expect(world.source.kinds).toBe('obtain refresh refresh refresh refresh refresh refresh')
    // The call itself.
    expect((await infos()) - before).toBe(5 + 1)
  })

  it('when a lease is released in another epoch, then only that step is stored there (F236, F303)', async () => {
    const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
    const register = redisRegister(await world.connect(server.url))
    const { epoch } = await register.read('{key}')
    expect(await register.replace('{key}', undefined, 'claim', 3_600_000, epoch!)).toBe(true)
    await server.kill()
    await server.restart()
    while (String(await server.command('CLIENT', 'LIST')).split('\n').length < 3) await settle()
    expect(await register.replace('{key}', 'claim', 'settled', 3_600_000, epoch!)).toBe(true)
    expect(await register.replace('{key}', 'settled', 'next claim', 3_600_000, epoch!)).toBe(false)
    await server.stop()
  })

  it('when Redis restarts during an exchange, then its token set is used, and its refresh token is in doubt (F236, F303)', async () => {
    const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
    const [first, second] = [await world.start({ url: server.url }), await world.start({ url: server.url })]
    const gate = held(() => world.source.grant())
    world.source.script.push(gate.answer)
    const asked = first.tokens.getAccessToken()
    while (world.source.calls.length === 0) await settle()
    await server.kill()
    await server.restart()
    while (String(await server.command('CLIENT', 'LIST')).split('\n').length < 4) await settle()
    gate.open()
    const token = await asked
    expect(await second.tokens.getAccessToken()).toBe(token)
    await second.tokens.renew()
    expect([presented(), world.source.kinds]).toEqual([[], 'obtain obtain'])
    expect(kindsOf(second)).toContain('store-restored')
    await server.stop()
  })

  it('when the epoch is known, then a read does not request it again', async () => {
    const register = redisRegister(await world.connect())
    const first = await register.read('{key}')
    const before = await infos()
    for (let n = 0; n < 10; n += 1) expect((await register.read('{key}')).epoch).toBe(first.epoch)
    // The call itself.
    expect((await infos()) - before).toBe(1)
  })

  it('when the user may not call INFO, then one anomaly says so, and tokens are shared anyway (F235)', async () => {
    const rights = ['+evalsha', '+eval', '+time', '+type', '+getrange', '+set', '~{evergreen:*']
    await world.server.command('ACL', 'SETUSER', 'blind', 'reset', 'on', '>pass', ...rights)
    const client = await world.connect(world.server.url.replace('//', '//blind:pass@'))
    const { tokens, observed } = manage(world.source, { store: redisStore({ client }) }, world.clock)
    await tokens.getAccessToken()
    await tokens.renew()
    const unknown = observed.anomaly.filter(({ kind }) => kind === 'store-epoch-unknown')
    expect(unknown).toEqual([
      { kind: 'store-epoch-unknown', message: expect.stringContaining('For Redis, grant the user +info') as unknown },
    ])
    expect(observed.storeUnavailable).toEqual([])
    expect(await world.stored()).toHaveLength(1)
    await tokens.close()
  })
})
