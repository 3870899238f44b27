import { describe, expect, it } from '@jest/globals'
import { redisStore } from '../../src/redis/index.ts'
import { createClient } from 'redis'
import { failingWith, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'
import { startProxy } from '../support/tcp-proxy.ts'
import { settle } from '../support/watched-clock.ts'
import { World } from './world.ts'

const unavailable = { message: expect.stringContaining('The shared token store is unavailable (') as unknown }

describeRedis('given a shared record, and trouble with it', () => {
  const world = new World()

  describe('given no server at its address', () => {
    const nowhere = () => {
      const client = createClient({ url: 'redis://:s3cret@127.0.0.1:1', disableOfflineQueue: true })
      return { client, source: new ScriptedSource({ pairs: true }) }
    }

    it('when a token is needed, then this process obtains its own, and one event says why (F131, F151)', async () => {
      const { client, source } = nowhere()
      const { tokens, observed, clock } = manage(source, { store: redisStore({ client }) })
      expect(await tokens.getAccessToken()).toBe('access-1')
      await tokens.renew()
      await settle()
      expect(source.kinds).toBe('obtain refresh')
      expect(observed.storeUnavailable).toEqual([unavailable])
      expect(JSON.stringify(observed)).not.toContain('s3cret')
      await clock.advance(60_000)
      await tokens.renew()
      await settle()
      expect(observed.storeUnavailable).toHaveLength(2)
      await tokens.close()
    })

    it('when the policy is fail, then callers get an error with retryAt (F131)', async () => {
      const { client, source } = nowhere()
      const { tokens } = manage(source, { store: redisStore({ client, onUnavailable: 'fail' }) })
      const error = await outcome(tokens.getAccessToken())
      expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', retryable: true })
      expect(error).toHaveProperty('retryAt')
      expect(source.calls).toEqual([])
    })
  })

  it('when Redis is gone and comes back, then private tokens are used during the outage and dropped afterwards (F132)', async () => {
    const redis = await startRedis()
    const { tokens, observed } = await world.start({ url: redis.url })
    await tokens.getAccessToken()
    await redis.kill()
    const asked = tokens.renew()
    for (let turn = 0; turn < 10; turn += 1) await world.clock.advance(250)
    await asked
    expect(world.source.kinds).toBe('obtain obtain')
    expect(observed.storeUnavailable).toHaveLength(1)
    await redis.restart()
    while (String(await outcome(redis.command('CLIENT', 'LIST'))).split('\n').length < 3) await settle()
    await tokens.renew()
    expect(world.source.kinds).toBe('obtain obtain obtain')
    expect(await redis.command('DBSIZE')).toBe(1)
    await redis.stop()
  })

  it('when Redis does not reply, then a valid token is used at once and a renewal waits 250 ms a command (F133, P21)', async () => {
    const proxy = await startProxy(world.server.port)
    const { tokens, observed } = await world.start({ url: proxy.url })
    await tokens.getAccessToken()
    proxy.replies('hold')
    await world.clock.advance(45_000)
    expect(tokens.peekAccessToken()).toBe('access-1')
    expect(world.source.calls).toHaveLength(1)
    await world.clock.advance(249)
    expect(world.source.calls).toHaveLength(1)
    await world.clock.advance(1)
    expect(world.source.kinds).toBe('obtain obtain')
    expect(tokens.peekAccessToken()).toBe('access-2')
    expect(observed.storeUnavailable).toEqual([
      { message: 'The shared token store is unavailable (no response within 250 ms)' },
    ])
    proxy.replies('pass')
    await proxy.stop()
  })

  it('when the lease is granted too late, then it is released, and the next one presents the stored token (F134, F135)', async () => {
    const proxy = await startProxy(world.server.port)
    const [late, other] = [await world.start({ url: proxy.url }), await world.start()]
    await late.tokens.getAccessToken()
    await other.tokens.getAccessToken()
    proxy.replies('hold', /schema/)
    const asked = late.tokens.renew()
    while ((await world.record()).lease === undefined) await settle()
    await world.clock.advance(250)
    await asked
    expect(world.source.kinds).toBe('obtain obtain')
    proxy.replies('pass')
    while ((await world.record()).lease !== undefined) await settle()
    await other.tokens.renew()
    expect(world.source.calls.at(-1)).toMatchObject({ kind: 'refresh', refreshToken: 'refresh-1' })
    await proxy.stop()
  })

  it('when the new token set is stored but the reply is lost, then it is used here and adopted there (F134)', async () => {
    const proxy = await startProxy(world.server.port)
    const [first, other] = [await world.start({ url: proxy.url }), await world.start()]
    await first.tokens.getAccessToken()
    const answer = held(() => world.source.grant())
    world.source.script.push(answer.answer)
    const renewed = first.tokens.renew()
    while (world.source.calls.length < 2) await settle()
    proxy.replies('lose')
    answer.open()
    while ((await world.record()).version !== 2) await settle()
    await world.clock.advance(250)
    await renewed
    expect(first.tokens.peekAccessToken()).toBe('access-2')
    expect(await other.tokens.getAccessToken()).toBe('access-2')
    proxy.cut()
    proxy.replies('pass')
    await other.tokens.renew()
    expect(world.source.kinds).toBe('obtain refresh refresh')
    await proxy.stop()
  })

  it('when the reply to a failure report is lost, then no process presents the refresh token again (F134, F136)', async () => {
    const proxy = await startProxy(world.server.port)
    const [first, other] = [await world.start({ url: proxy.url }), await world.start()]
    await first.tokens.getAccessToken()
    const lost = held(failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown'))
    world.source.script.push(lost.answer)
    const renewed = outcome(first.tokens.renew())
    while (world.source.calls.length < 2) await settle()
    proxy.cut()
    proxy.replies('hold')
    lost.open()
    for (let turn = 0; turn < 4; turn += 1) await world.clock.advance(250)
    await renewed
    await world.clock.advance(20_000)
    await other.tokens.renew()
    expect(world.source.calls.filter(({ refreshToken }) => refreshToken === 'refresh-1')).toHaveLength(1)
    proxy.replies('pass')
    await proxy.stop()
  })

  it('when a reset cannot reach it, then the reset rejects, and the refresh token is not presented afterwards', async () => {
    const proxy = await startProxy(world.server.port)
    const { tokens, observed } = await world.start({ url: proxy.url })
    await tokens.getAccessToken()
    const [[key, before]] = (await world.stored()) as [[string, string]]
    proxy.replies('lose')
    const reset = outcome(tokens.reset())
    await world.clock.advance(2_000)
    expect(await reset).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    proxy.cut()
    proxy.replies('pass')
    await world.server.command('SET', key, before)
    await tokens.getAccessToken()
    expect([world.source.kinds, observed.suspicious]).toEqual(['obtain obtain', []])
    await proxy.stop()
  })

  it('when the holder stalls beyond its lease, then another obtains, and the holder adopts (F136)', async () => {
    const [holder, other] = [await world.start(), await world.start()]
    await holder.tokens.getAccessToken()
    await other.tokens.getAccessToken()
    const answer = held(() => world.source.grant())
    world.source.script.push(answer.answer)
    const renewed = holder.tokens.renew()
    while (world.source.calls.length < 2) await settle()
    // The process of the holder is suspended, so its timeout does not fire.
    const record = await world.record()
    expect(record.lease).toMatchObject({ settled: false })
    await world.rewrite((state) => ({ ...state, lease: { ...(state.lease as object), at: 1, ms: 1 } }))
    await other.tokens.renew()
    expect(world.source.kinds).toBe('obtain refresh obtain')
    answer.open()
    await renewed
    expect(holder.tokens.peekAccessToken()).toBe(other.tokens.peekAccessToken())
    expect(holder.observed.renewed.at(-1)).toMatchObject({ by: 'adopted', because: 'forced' })
    expect(holder.observed.suspicious).toEqual([])
  })

  it('when the lease is deleted, then no other process presents the refresh token in flight (F137, F138)', async () => {
    const [holder, other] = [await world.start(), await world.start()]
    await holder.tokens.getAccessToken()
    await other.tokens.getAccessToken()
    const answer = held(() => world.source.grant())
    world.source.script.push(answer.answer)
    const renewed = holder.tokens.renew()
    while (world.source.calls.length < 2) await settle()
    await world.server.command('FLUSHALL')
    // After a flush, fences start at the clock of the server. Without these 2 ms, an old fence could return.
    await world.clock.advance(2)
    await other.tokens.renew()
    answer.open()
    await renewed
    expect(world.source.kinds).toBe('obtain refresh obtain')
    expect(holder.tokens.peekAccessToken()).toBe(other.tokens.peekAccessToken())
    expect([...holder.observed.suspicious, ...other.observed.suspicious]).toEqual([])
  })

  it.each([
    ['NOAUTH: the client sent no password, or a wrong one', [['CONFIG', 'SET', 'requirepass', 's3cret']], ['RESET']],
    [
      'NOREPLICAS: the server rejects writes with so few replicas, check them and min-replicas-to-write',
      [['CONFIG', 'SET', 'min-replicas-to-write', '1']],
      ['PING'],
    ],
    ['OOM: the server is out of memory, raise maxmemory', [['CONFIG', 'SET', 'maxmemory', '1']], ['PING']],
    ['READONLY: the server is a replica, connect to the primary', [['REPLICAOF', '127.0.0.1', '1']], ['PING']],
  ])(
    'when Redis replies %s, then the event says what to do, the store is unavailable and nothing counts as empty (F151, F152)',
    async (kind, commands, own) => {
      const redis = await startRedis()
      const client = await world.connect(redis.url)
      const { tokens } = manage(world.source, { store: redisStore({ client }) }, world.clock)
      await tokens.getAccessToken()
      for (const command of commands) await redis.command(...command)
      await client.sendCommand(own)
      const strict = manage(world.source, { store: redisStore({ client, onUnavailable: 'fail' }) }, world.clock)
      const error = await outcome<unknown>(strict.tokens.renew())
      await settle()
      const message = `The shared token store is unavailable (${kind})`
      expect(strict.observed.storeUnavailable).toEqual([{ message }])
      expect(error).toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining(message) as unknown,
      })
      expect(world.source.kinds).toBe('obtain')
      await redis.stop()
    },
  )
})
