import { expect, it } from '@jest/globals'
import { clientCredentials, createTokenManager, memoryStore } from '../../src/index.ts'
import { redisStore } from '../../src/redis/index.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { onClock } from '../support/redis-clock.ts'
import { describeRedis } from '../support/redis-server.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'
import { World } from './world.ts'

describeRedis('given processes that share', () => {
  const world = new World()

  it('when local clocks differ by hours, then they share as if they did not (F149, I15)', async () => {
    const client = await world.connect()
    const store = redisStore({ client: onClock((args) => client.sendCommand(args), world.clock) })
    const processes = [0, 5, -7].map((hours) => {
      const clock = manualClock({ wallNow: Date.UTC(2026, 0, 1) + hours * 3_600_000 })
      return manage(world.source, { store, renewal: { keepWarm: 'never' } }, clock)
    })
    for (let renewal = 1; renewal < 4; renewal += 1) {
      for (const { tokens } of processes) expect(await tokens.getAccessToken()).toBe(`access-${renewal}`)
      for (const { clock } of [world, ...processes]) await clock.advance(60_000)
    }
    for (const { tokens } of processes) await tokens.close()
    expect(world.source.kinds).toBe('obtain refresh refresh')
  })

  it('when hundreds are cold at once, then one makes the token request and the others poll at most four times a second (F148, I13)', async () => {
    const client = await world.connect()
    let commands = 0
    let inFlight = 0
    const send = (args: string[]) => {
      commands += 1
      inFlight += 1
      return client.sendCommand(args).finally(() => (inFlight -= 1))
    }
    const answer = held(() => world.source.grant())
    world.source.script.push(answer.answer)
    const store = redisStore({ client: onClock(send, world.clock) })
    const processes = Array.from({ length: 100 }, () => manage(world.source, { store }, world.clock))
    const asked = processes.map(({ tokens }) => tokens.getAccessToken())
    // Virtual time stands still until Redis has replied.
    const idle = async () => {
      do await settle()
      while (inFlight > 0)
      await settle()
    }
    await idle()
    const atFirst = commands
    for (let turn = 0; turn < 20; turn += 1) {
      await world.clock.advance(100)
      await idle()
    }
    const seconds = 2
    expect((commands - atFirst) / processes.length).toBeLessThanOrEqual(3 + 4 * seconds)
    answer.open()
    for (let turn = 0; turn < 12; turn += 1) {
      await world.clock.advance(100)
      await idle()
    }
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['access-1']))
    expect(world.source.kinds).toBe('obtain')
    const before = commands
    await world.clock.advance(40_000)
    expect(commands).toBe(before)
    for (const { tokens } of processes) await tokens.close()
  })

  it('when the service is down, then a whole fleet makes no more calls than one process (P6, I12)', async () => {
    const source = new ScriptedSource({ pairs: true })
    source.script.push(...Array.from({ length: 500 }, () => failing(503)))
    const clock = manualClock()
    const store = memoryStore()
    const fleet = Array.from({ length: 50 }, () => manage(source, { store, random: () => 0.5 }, clock))
    const ask = () => Promise.all(fleet.map(({ tokens }) => outcome(tokens.getAccessToken())))
    const asked: Promise<unknown>[] = []
    const minutes: number[] = []
    for (let minute = 0; minute < 5; minute += 1) {
      const before = source.calls.length
      for (let second = 0; second < 60; second += 1) {
        asked.push(ask())
        await clock.advance(1_000)
      }
      minutes.push(source.calls.length - before)
    }
    await clock.advance(60_000)
    await Promise.all(asked)
    expect(minutes[0]).toBeLessThanOrEqual(10)
    for (const calls of minutes.slice(1)) expect(calls).toBeLessThanOrEqual(4)
    for (const { tokens } of fleet) await tokens.close()
  })

  it("when the service rejects one process's credentials, then all of them wait, and a reset in any of them ends it for all", async () => {
    const [first, second, third] = [await world.start(), await world.start(), await world.start()]
    world.source.script.push(failing(400))
    expect(await outcome(first.tokens.getAccessToken())).toMatchObject({
      code: 'ERR_CREDENTIALS_REJECTED',
      status: 400,
    })
    expect(await outcome(second.tokens.getAccessToken())).toMatchObject({
      code: 'ERR_CREDENTIALS_REJECTED',
      status: 400,
    })
    expect(world.source.calls).toHaveLength(1)
    await second.tokens.reset()
    expect(await third.tokens.getAccessToken()).toBe('access-1')
  })

  it('when one is reset and needs a token at once, then its new token set is stored, because its lease is newer than the reset', async () => {
    const [first, second] = [await world.start(), await world.start()]
    await first.tokens.getAccessToken()
    await second.tokens.getAccessToken() // the second process adopts, so it has not released anything yet
    const reset = second.tokens.reset()
    const token = await second.tokens.getAccessToken()
    await reset
    expect(token).toBe('access-2')
    expect(await (await world.start()).tokens.getAccessToken()).toBe('access-2')
    expect(world.source.kinds).toBe('obtain obtain')
  })

  it.each([1, 4])(
    'when one stops after a suspicion, with %i attempts left, then all of them stop, and those that start later',
    async (maxAttempts) => {
      const options = { onSuspicious: 'stop', retry: { maxAttempts } } as const
      const [first, second] = [await world.start({}, options), await world.start({}, options)]
      await first.tokens.getAccessToken()
      await second.tokens.getAccessToken()
      world.source.script.push(failing(401))
      const stopped = { code: 'ERR_SUSPICIOUS_REFRESH_TOKEN' }
      expect(await outcome<unknown>(first.tokens.renew())).toMatchObject(stopped)
      const later = await world.start({}, options)
      expect(await outcome(later.tokens.getAccessToken())).toMatchObject(stopped)
      await world.clock.advance(45_000)
      expect(await outcome<unknown>(second.tokens.renew())).toMatchObject(stopped)
      expect(second.tokens.status().phase).toBe('stopped')
      expect([first, second, later].map(({ observed }) => observed.suspicious.length)).toEqual([1, 0, 0])
      expect(world.source.kinds).toBe('obtain refresh')
    },
  )

  it('when a store key could mean two accounts, variants or addresses, then nothing is shared between them (F150)', async () => {
    const client = await world.connect()
    const store = redisStore({ client })
    const ids = ['variant-a https://a my-login', 'variant-b https://a my-login', 'variant-b https://b my-login']
    for (const id of ids) {
      const source = {
        id,
        obtain: async () => ({ accessToken: `token-of-${ids.indexOf(id)}`, accessLifetimeMs: 60_000 }),
      }
      expect(await createTokenManager({ source, store }).getAccessToken()).toBe(`token-of-${ids.indexOf(id)}`)
    }
    expect(await world.stored()).toHaveLength(3)
  })

  it('when the key is inspected, then it has one hash tag, so a cluster keeps it in one slot (F140)', async () => {
    const { tokens } = await world.start()
    await tokens.getAccessToken()
    expect(await world.key()).toMatch(/^\{evergreen:[0-9a-f]{32}\}$/)
    expect(await world.stored()).toHaveLength(1)
  })

  it('when a refresh token lives longer than Redis can keep a key, then the record is kept for a hundred years', async () => {
    // "Never expires", as some services express it: the largest number of seconds.
    world.source.script.push(() => world.source.grant({ refreshLifetimeMs: 2 ** 63 * 1_000 }))
    const [first, second] = [await world.start(), await world.start()]
    await first.tokens.getAccessToken()
    expect(await second.tokens.getAccessToken()).toBe('access-1')
    expect(Number(await world.server.command('PTTL', await world.key()))).toBeGreaterThan(36_524 * 86_400_000)
    expect(first.observed.storeUnavailable).toEqual([])
  })

  it('when a message is published, then no process listens: the record is the only channel (F147)', async () => {
    const { tokens } = await world.start()
    await tokens.getAccessToken()
    expect(await world.server.command('PUBSUB', 'NUMPAT')).toBe(0)
    expect(await world.server.command('PUBSUB', 'CHANNELS')).toEqual([])
  })
})

it.each([
  ['client', { client: {} }, /client must be/],
  ['client', { client: null }, /client must be an object/],
  ['prefix', { prefix: '' }, /prefix must not be empty/],
  ['prefix', { prefix: 'a{b' }, /prefix must not contain braces/],
  ['commandTimeoutMs', { commandTimeoutMs: 0 }, /commandTimeoutMs must be a finite number from 1/],
  ['onUnavailable', { onUnavailable: 'retry' }, /onUnavailable must be one of 'private', 'fail'/],
  ['encryptionKeys', { encryptionKeys: [] }, /encryptionKeys must be a list/],
  [
    'encryptionKeys',
    { encryptionKeys: [{ id: 'a', key: new Uint8Array(31) }] },
    /encryptionKeys\[0\]\.key must have 32 bytes, got 31/,
  ],
  [
    'encryptionKeys',
    { encryptionKeys: [{ id: 'a', key: new Uint8Array(0) }] },
    /encryptionKeys\[0\]\.key must have 32 bytes, got 0: is the environment variable set\?/,
  ],
  ['encryptionKeys', { encryptionKeys: [{ id: 'a', key: 's3cret' }] }, /encryptionKeys\[0\]\.key must be a Uint8Array/],
  [
    'encryptionKeys',
    { encryptionKeys: [{ id: '', key: new Uint8Array(32) }] },
    /encryptionKeys\[0\]\.id must not be empty/,
  ],
  [
    'encryptionKeys',
    {
      encryptionKeys: [
        { id: 'a', key: new Uint8Array(32) },
        { id: 'a', key: new Uint8Array(32) },
      ],
    },
    /encryptionKeys\[1\]\.id 'a' is already used by an earlier key/,
  ],
])('when redisStore receives an invalid %s, then it throws at once, and shows no key', (_, options, message) => {
  const client = { command: async () => null }
  const create = () => redisStore({ client, ...options } as never)
  expect(create).toThrow(message)
  expect(create).not.toThrow(/s3cret/)
})

it('when credentials come from a function without an account, then a store requires a storeKey', () => {
  const source = clientCredentials({
    baseUrl: 'https://a.example',
    credentials: () => ({ clientId: 'a', clientSecret: 'b' }),
  })
  const store = redisStore({ client: { command: async () => null } })
  expect(() => createTokenManager({ source, store })).toThrow(/pass storeKey/)
  expect(createTokenManager({ source, store, storeKey: 'a' }).status().phase).toBe('empty')
})
