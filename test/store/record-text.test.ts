import { describe, expect, it } from '@jest/globals'
import { createHash } from 'node:crypto'
import type { StoredTokenSet, RecordState } from '../../src/record/record-shape.ts'
import { ForeignRecord, storedIn, textOf } from '../../src/store/record-text.ts'
import { KeyRing } from '../../src/store/sealed-box.ts'

const KEY = '{evergreen:account}'
const OPEN = new KeyRing(undefined)
const key = (seed: number) => Uint8Array.from({ length: 32 }, (_, index) => index + seed)
const SEALING = new KeyRing([{ id: 'one', key: key(1) }])
const NOW = Date.UTC(2026, 0, 1)

const STATE = {
  ...{ version: 7, fence: NOW, clearedFence: 5, overlaps: false, login: 3, subject: 'who', epoch: 'one' },
  tokens: {
    ...{ at: NOW, accessToken: 'access-1', accessLifetimeMs: 60_000, accessMs: 60_000, refreshToken: 'refresh-1' },
    ...{ refreshMs: 3_600_000, fence: 6, retired: false, doubtAt: 0, presentations: 1, overlapped: true },
    unclear: { at: NOW, says: 'it', times: 2 },
  },
  lease: { at: NOW, ms: 15_000, owner: 'me', fence: NOW, settled: false },
  coolDown: {
    ...{ at: NOW, ms: 20_000, failures: 2, isFirm: true, code: 'ERR_LOGIN_REQUIRED' as const, status: 400 },
    ...{ serviceCode: 'invalid_grant', loginReason: 'refused' as const },
  },
} satisfies RecordState
const BARE: RecordState = { version: 1, fence: 1, clearedFence: 0, overlaps: true, login: 0 }

const written = async (state: RecordState, ring = OPEN) => JSON.parse(await textOf(state, KEY, ring)) as { box: string }
const shownOf = async (state: RecordState) => ((await written(state)) as unknown as { shown: object }).shown
/** What is read where the state of a record is `state`, of any shape. */
async function readBack(state: unknown) {
  return storedIn(JSON.stringify({ ...(await written(BARE)), box: JSON.stringify(state) }), KEY, OPEN)
}
const FLAW = { flaw: 'it is not a token record' }

describe('given a record that users inspect', () => {
  it('then it shows what the guide says: the version, a fingerprint, and the times of expiry', async () => {
    expect(await shownOf(STATE)).toEqual({
      version: 7,
      fingerprint: createHash('sha256').update('refresh-1').digest('hex').slice(0, 8),
      accessEnd: '2026-01-01T00:01:00.000Z',
      refreshEnd: '2026-01-01T01:00:00.000Z',
      leasedUntil: '2026-01-01T00:00:15.000Z',
      coolsDownUntil: '2026-01-01T00:00:20.000Z',
    })
  })

  it('then absent members are not shown', async () => {
    expect(await shownOf(BARE)).toStrictEqual({ version: 1 })
    const { refreshToken: _, refreshMs: __, ...tokens } = STATE.tokens
    expect(await shownOf({ ...BARE, tokens })).toStrictEqual({ version: 1, accessEnd: '2026-01-01T00:01:00.000Z' })
  })

  it('then it says what ends a cool-down without an end, and shows no time that no Date can hold', async () => {
    expect(await shownOf({ ...STATE, coolDown: { ...STATE.coolDown, ms: null } })).toMatchObject({
      coolsDownUntil: 'reset()',
    })
    expect(await shownOf({ ...STATE, coolDown: { ...STATE.coolDown, ms: 1e300 } })).toMatchObject({
      coolsDownUntil: '+275760-09-13T00:00:00.000Z',
    })
  })
})

describe('given the text of a record', () => {
  it.each<[string, RecordState]>([
    ['all members', STATE],
    ['no optional members', BARE],
    ['a cool-down without an end', { ...STATE, coolDown: { ...STATE.coolDown, ms: null } }],
    ['no access token', { ...STATE, tokens: { ...STATE.tokens, accessToken: '', accessMs: 0 } }],
  ])('when it has %s, then all of it is restored', async (_, state) => {
    for (const ring of [OPEN, SEALING])
      expect(await storedIn(await textOf(state, KEY, ring), KEY, ring)).toEqual({ state })
  })

  type Path = readonly string[]
  const pathsOf = (value: object, path: Path = []): Path[] =>
    Object.entries(value).flatMap(([name, one]): Path[] =>
      typeof one === 'object' && one !== null
        ? [[...path, name], ...pathsOf(one as object, [...path, name])]
        : [[...path, name]],
    )
  const withValue = (value: object, [name = '', ...rest]: Path, one: unknown): object => ({
    ...value,
    [name]: rest.length > 0 ? withValue((value as Record<string, object>)[name]!, rest, one) : one,
  })

  const withMember = (value: object, path: Path, name: string): unknown =>
    JSON.parse(JSON.stringify(withValue(value, [...path, 'MORE'], 1)).replace('MORE', name))

  it.each([[], ['tokens'], ['lease'], ['coolDown'], ['tokens', 'unclear']])(
    'when it has an optional member of a later release in [%s %s], then that is read, too (F297)',
    async (...path) => {
      const state = withMember(STATE, path, 'hint')
      expect(await readBack(state)).toEqual({ state })
    },
  )

  it.each(pathsOf(STATE).map((path) => path.join('.')))(
    'when %s has another type, then the record counts as absent (F141)',
    async (path) => {
      const names = path.split('.')
      const values = [true, 'text', 7, null, [], {}].filter((one) => {
        const before = names.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], STATE)
        // A cool-down without an end has null for its time. The other members may be numbers.
        return typeof one !== typeof before && !(path === 'coolDown.ms' && one === null)
      })
      for (const one of values) expect(await readBack(withValue(STATE, names, one))).toEqual(FLAW)
      for (const name of ['More', '_more', '1more', 'toString', '__proto__'])
        expect(await readBack(withMember(STATE, names.slice(0, -1), name))).toEqual(FLAW)
    },
  )

  it('when the token could not be sent in a header, then the record counts as absent', async () => {
    const tokens: StoredTokenSet = { ...STATE.tokens, accessToken: 'two\nlines' }
    expect(await readBack({ ...STATE, tokens })).toEqual(FLAW)
  })

  it('when it is sealed, and a key or a bit is wrong, then the reason says which', async () => {
    const text = await textOf(STATE, KEY, SEALING)
    const read = (given: string, ring = SEALING) => storedIn(given, KEY, ring)
    expect(await read(text.replace('"version":7', '"version":8'))).toEqual({
      flaw: 'it was changed, or sealed with another key of the same id',
    })
    expect(await read(await textOf(STATE, KEY, OPEN))).toEqual({ flaw: 'it was not sealed' })
    const unknown = 'it is sealed with a key that is not among encryptionKeys: add that key, or delete the record'
    const strangers = [new KeyRing([{ id: 'two', key: key(2) }]), OPEN]
    for (const ring of strangers) await expect(read(text, ring)).rejects.toThrow(new ForeignRecord(unknown))
  })

  it('when another release wrote it, then a newer record is left alone, and no schema below 1 is a record', async () => {
    const of = async (schema: number) => storedIn(JSON.stringify({ ...(await written(STATE)), schema }), KEY, OPEN)
    await expect(of(2)).rejects.toThrow(new ForeignRecord('a newer release wrote it'))
    expect([await of(0), await of(1.5)]).toEqual([FLAW, FLAW])
  })

  it('when it has more than 256 KiB, then it counts as absent and is not even parsed', async () => {
    const text = await textOf(STATE, KEY, OPEN)
    expect(await storedIn(text.padEnd(262_144), KEY, OPEN)).toEqual({ state: STATE })
    expect(await storedIn(text.padEnd(262_145), KEY, OPEN)).toEqual(FLAW)
  })

  it('when a token has characters beyond ASCII, then the text is ASCII, and the token is restored', async () => {
    const state = { ...STATE, tokens: { ...STATE.tokens, refreshToken: 'é-€-\u{1f511}' } }
    const text = await textOf(state, KEY, OPEN)
    expect(text).toMatch(/^[\0-\x7f]*$/)
    expect(await storedIn(text, KEY, OPEN)).toEqual({ state })
  })
})
