import { describe, expect, it } from '@jest/globals'
import { held } from '../support/managed.ts'
import { describeRedis } from '../support/redis-server.ts'
import { settle } from '../support/watched-clock.ts'
import { changedState, World } from './world.ts'

const keysOf = (...ids: string[]) =>
  ids.map((id) => ({ id, key: Uint8Array.from({ length: 32 }, (_, index) => index + id.charCodeAt(1)) }))

describeRedis('given a foreign value instead of the record', () => {
  const world = new World()

  /** Puts `value` under the key of the account. */
  const replaceBy = async (value: string, ...how: string[]) => {
    const key = await world.key()
    await world.server.command('DEL', key)
    await world.server.command(...(how.length > 0 ? how : ['SET']), key, value)
  }
  const seed = async () => {
    const { tokens, observed } = await world.start()
    await tokens.getAccessToken()
    return { tokens, observed, record: await world.record() }
  }

  const garbage: [string, (record: string) => string][] = [
    ['half of it', (record) => record.slice(0, record.length / 2)],
    ['not JSON', () => '<html>'],
    ['random bytes', () => '\u0000\u0001\ufffd\u007f'],
    ['a number', () => '7'],
    ['null', () => 'null'],
    ['an array', () => '[1, 2]'],
    ['a foreign object', () => '{"hello":"world"}'],
    ['a text that is not a state', (record) => record.replace(/"box":"(\\.|[^"\\])*"/, '"box":"none"')],
    ['an envelope with an additional member', (record) => record.replace('"schema"', '"no name":1,"schema"')],
    ['an envelope without its state', (record) => record.replace(/,"box":"(\\.|[^"\\])*"/, '')],
    ['a state with a string instead of a number', changedState((state) => ({ ...state, version: 'one' }))],
    ['a state whose token set has another type', changedState((state) => ({ ...state, tokens: 'none' }))],
    [
      'a state whose token set lacks a member',
      changedState(({ tokens, ...state }) => ({ ...state, tokens: { ...(tokens as object), at: undefined } })),
    ],
    ['a state with an additional member', changedState((state) => ({ ...state, 'no name': 1 }))],
    [
      'a state with an infinite number',
      (record) => record.replace(/\\"accessLifetimeMs\\":\d+/, '\\"accessLifetimeMs\\":1e999'),
    ],
    ['a token with a line break', (record) => record.replace('access-1', 'access\\\\n-1')],
    ['an infinite schema number', (record) => record.replace('"schema":1', '"schema":1e999')],
    ['a fractional schema number', (record) => record.replace('"schema":1', '"schema":1.5')],
    ['a fence that cannot be incremented', changedState((state) => ({ ...state, fence: 1e308, clearedFence: 1e308 }))],
    ['a version that cannot be incremented', changedState((state) => ({ ...state, version: 2 ** 53 }))],
    ['a fence below the cleared one', changedState((state) => ({ ...state, clearedFence: Number(state.fence) + 1 }))],
    [
      'a token set with a later fence than the last',
      changedState(({ tokens, ...state }) => ({
        ...state,
        tokens: { ...(tokens as object), fence: Number(state.fence) + 1 },
      })),
    ],
    ['a schema below 1', (record) => record.replace('"schema":1', '"schema":0')],
  ]

  it.each(garbage)('when it is %s, then it counts as absent and is replaced (F141, F142, F182)', async (_, change) => {
    await seed()
    const stored = (await world.stored())[0]![1]
    const changed = change(stored)
    expect(changed).not.toBe(stored)
    await replaceBy(changed)
    const { tokens, observed } = await world.start()
    expect(await tokens.getAccessToken()).toBe('access-2')
    await settle()
    expect(observed.storeUnavailable).toEqual([])
    expect((await world.record()).schema).toBe(1)
    const later = await world.start()
    expect(await later.tokens.getAccessToken()).toBe('access-2')
    expect(world.source.kinds).toBe('obtain obtain')
  })

  it.each([
    ['a lease', { lease: { owner: 7, at: 'soon' } }],
    ['a cool-down', { coolDown: { at: 0, ms: 'never' } }],
  ])('when %s in it has another type, then all of it counts as absent and is replaced (F141)', async (_, member) => {
    await seed()
    await replaceBy(changedState((state) => ({ ...state, ...member }))((await world.stored())[0]![1]))
    const { tokens, observed } = await world.start()
    expect(await tokens.getAccessToken()).toBe('access-2')
    await settle()
    expect(world.source.kinds).toBe('obtain obtain')
    expect(observed.storeUnavailable).toEqual([])
    expect(await (await world.start()).tokens.getAccessToken()).toBe('access-2')
  })

  it('when it has another Redis type, or 10 MB, then it is replaced and one event says so, without its content (F141, F182)', async () => {
    await seed()
    await replaceBy('s3cret', 'LPUSH')
    const first = await world.start({ encryptionKeys: keysOf('k1') })
    await first.tokens.getAccessToken()
    await replaceBy('s3cret'.repeat(1_700_000))
    const second = await world.start({ encryptionKeys: keysOf('k1') })
    await second.tokens.getAccessToken()
    await settle()
    for (const { observed } of [first, second]) {
      expect(observed.anomaly.map(({ kind }) => kind)).toEqual(['stored-tokens-unusable'])
      expect(JSON.stringify(observed)).not.toContain('s3cret')
    }
    expect((await world.record()).shown).toMatchObject({ version: 1 })
  })

  // Clients read a text where the server has bytes: bytes that are not text are read as another text.
  it.each([
    ['bytes that are not text', "'{' .. string.char(0, 255, 254, 128, 194, 237, 160, 128)"],
    ['a record that ends within a character', '\'{"schema":1,"nonce":"\' .. string.char(226, 130)'],
    ['10 MB that are cut within a character', "'{' .. string.rep(string.char(226, 130, 172), 3500000)"],
  ])('when it is %s, then it counts as absent and is replaced (F141)', async (_, value) => {
    await seed()
    await world.server.command('EVAL', `return redis.call('SET', KEYS[1], ${value})`, '1', await world.key())
    const { tokens, observed } = await world.start()
    expect(await tokens.getAccessToken()).toBe('access-2')
    await settle()
    expect(observed.storeUnavailable).toEqual([])
    expect(observed.anomaly.map(({ kind }) => kind)).toContain('stored-tokens-unusable')
    expect(await (await world.start()).tokens.getAccessToken()).toBe('access-2')
  })

  it('when a refresh token has characters beyond ASCII, then other processes read it unchanged (F141)', async () => {
    const refreshToken = 'é€𝔘\u00a0\u07ff\u0800\ud7ff\ue000\ufffd\u{10000}\u{10ffff}'
    const first = await world.start()
    await first.tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken })
    const { tokens, observed } = await world.start()
    expect(await tokens.getAccessToken()).toBe('a')
    await tokens.renew()
    expect(world.source.calls.map(({ refreshToken }) => refreshToken)).toEqual([refreshToken])
    expect(observed.storeUnavailable).toEqual([])
  })

  it('when it is of a newer release, then it is left alone, and this process has its own tokens (F143)', async () => {
    const { record } = await seed()
    const newer = JSON.stringify({ ...record, schema: 2, box: { of: 'another shape' } })
    await replaceBy(newer)
    const { tokens, observed } = await world.start()
    expect(await tokens.getAccessToken()).toBe('access-2')
    await tokens.renew()
    await settle()
    expect((await world.stored())[0]![1]).toBe(newer)
    expect(observed.anomaly.map(({ kind }) => kind)).toContain('stored-tokens-unusable')
    expect(observed.storeUnavailable).toEqual([])
  })

  it('when it was flushed, then the next renewal obtains, and no process presents a lost refresh token (F138)', async () => {
    const { tokens, observed } = await seed()
    await world.server.command('FLUSHALL')
    await tokens.renew()
    expect(world.source.kinds).toBe('obtain obtain')
    expect(await (await world.start()).tokens.getAccessToken()).toBe('access-2')
    expect(observed.suspicious).toEqual([])
  })

  it('when an older copy is restored, then an owner with newer tokens obtains and replaces it (F139, F146)', async () => {
    const { tokens, observed } = await seed()
    const copy = (await world.stored())[0]![1]
    await tokens.renew()
    await replaceBy(copy)
    await tokens.renew()
    expect(world.source.kinds).toBe('obtain refresh obtain')
    expect((await world.record()).version).toBe(3)
    expect(observed.suspicious).toEqual([])
  })

  it('when an older copy is restored while a renewal is in flight, then the new token set is stored over it (F139)', async () => {
    const { tokens } = await seed()
    const copy = (await world.stored())[0]![1]
    await tokens.renew()
    const answer = held(() => world.source.grant())
    world.source.script.push(answer.answer)
    const renewed = tokens.renew()
    while (world.source.calls.length < 3) await settle()
    await replaceBy(copy)
    answer.open()
    await renewed
    expect(tokens.peekAccessToken()).toBe('access-3')
    expect((await world.record()).version).toBe(3)
    expect(await (await world.start()).tokens.getAccessToken()).toBe('access-3')
  })

  describe('given encryption keys', () => {
    it('when the key in use is not known here, then the record is left alone, and this process has its own tokens (F144)', async () => {
      const [first] = [await world.start({ encryptionKeys: keysOf('k1') })]
      await first.tokens.getAccessToken()
      const [before] = await world.stored()
      for (const encryptionKeys of [keysOf('k2'), undefined]) {
        const { tokens, observed } = await world.start({ encryptionKeys })
        await tokens.getAccessToken()
        await tokens.renew()
        await settle()
        expect(observed.anomaly.map(({ kind }) => kind)).toContain('stored-tokens-unusable')
      }
      expect((await world.stored())[0]).toEqual(before)
    })

    it('when they are rotated in three steps, then the fleet shares tokens all the time (F144)', async () => {
      const steps = [keysOf('k1'), keysOf('k1', 'k2'), keysOf('k2', 'k1'), keysOf('k2')]
      let old = await world.start({ encryptionKeys: steps[0] })
      await old.tokens.getAccessToken()
      for (const encryptionKeys of steps.slice(1)) {
        const next = await world.start({ encryptionKeys })
        const token = await next.tokens.getAccessToken()
        expect(token).toBe(old.tokens.peekAccessToken())
        await next.tokens.renew()
        await old.tokens.replaceAccessToken(token)
        expect(old.tokens.peekAccessToken()).toBe(next.tokens.peekAccessToken())
        old = next
      }
      expect(world.source.kinds).toBe('obtain refresh refresh refresh')
    })

    it('when sealed tokens are moved to another account, then they do not open (F145)', async () => {
      const encryptionKeys = keysOf('k1')
      await (await world.start({ encryptionKeys })).tokens.getAccessToken()
      const [from, record] = (await world.stored())[0]!
      const other = await world.start({ encryptionKeys }, { storeKey: 'another account' })
      await other.tokens.getAccessToken()
      const to = (await world.stored()).find(([key]) => key !== from)![0]
      await world.server.command('SET', to, record)
      const { tokens } = await world.start({ encryptionKeys }, { storeKey: 'another account' })
      expect(await tokens.getAccessToken()).toBe('access-3')
    })

    it('when any sealed byte changes, then the record counts as absent (F145)', async () => {
      const encryptionKeys = keysOf('k1')
      await (await world.start({ encryptionKeys })).tokens.getAccessToken()
      const record = await world.record()
      // Bytes, not characters: the last character of base64 can have spare bits.
      const box = Buffer.from(record.box as string, 'base64')
      for (let at = 0; at < box.length; at += 5) {
        const flipped = Buffer.from(box)
        flipped[at]! ^= 1
        const changed = flipped.toString('base64')
        await replaceBy(JSON.stringify({ ...record, box: changed }))
        const { tokens } = await world.start({ encryptionKeys })
        expect(await tokens.getAccessToken()).not.toBe('access-1')
      }
    })

    it('when the record is readable, then any process may have written it, so it is replaced by a sealed one (F145)', async () => {
      await seed()
      const { tokens } = await world.start({ encryptionKeys: keysOf('k1') })
      expect(await tokens.getAccessToken()).toBe('access-2')
      expect((await world.record()).kid).toBe('k1')
    })

    it('when all keys and values are searched, then they contain no login and no token (F150, I14)', async () => {
      const id = 'variant-b https://api.example.com my-login'
      const { tokens, observed } = await world.start({ encryptionKeys: keysOf('k1') }, { storeKey: id })
      await tokens.getAccessToken()
      await tokens.renew()
      const everything = JSON.stringify([await world.stored(), observed])
      for (const secret of ['my-login', 'access-', 'refresh-', 'api.example']) expect(everything).not.toContain(secret)
      expect(observed.anomaly).toEqual([])
    })
  })

  it('when there are no keys, then one anomaly says that tokens are readable', async () => {
    const { tokens, observed } = await world.start()
    await tokens.getAccessToken()
    for (let turn = 0; turn < 5; turn += 1) {
      await world.clock.advance(61_000)
      await tokens.renew()
    }
    expect(observed.anomaly.filter(({ kind }) => kind === 'tokens-unencrypted')).toHaveLength(1)
  })
})
