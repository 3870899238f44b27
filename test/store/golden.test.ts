import { describe, expect, it } from '@jest/globals'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { RecordState } from '../../src/record/record-shape.ts'
import { storedIn, textOf } from '../../src/store/record-text.ts'
import { KeyRing } from '../../src/store/sealed-box.ts'

const KEY = '{evergreen:golden}'
const OPEN = new KeyRing(undefined)
const SEALED = new KeyRing([{ id: 'golden', key: Uint8Array.from({ length: 32 }, (_, n) => n) }])
const FOLDER = 'test/golden'

/** What one schema wrote. Never change such a file: every later release must read it. */
interface Golden {
  readonly name: string
  readonly state: RecordState
  readonly open: string
  readonly sealed: string
}

const at = Date.UTC(2026, 10, 23)
const BASE = { version: 7, fence: at, clearedFence: 0, overlaps: false, login: 0 }
const TOKENS = {
  ...{
    at,
    accessToken: 'access',
    accessLifetimeMs: 60_000,
    accessMs: 59_000,
    refreshToken: 'refresh-é',
    refreshMs: 3_600_000,
  },
  ...{ fence: 6, retired: false, presentations: 1, overlapped: true },
}
const LOGIN = { login: at, clearedFence: at - 1, subject: 'fingerprint', loginId: '0123' }
const DOUBT = { doubtAt: at, unclear: { at, says: 'ERR_REFRESH_REJECTED 400', times: 2 } }
const COOL_DOWN = {
  at,
  ms: 20_000,
  failures: 2,
  isFirm: true,
  code: 'ERR_LOGIN_REQUIRED',
  status: 400,
  serviceCode: 'invalid_grant',
  loginReason: 'refused',
} as const
const STATES: Record<string, RecordState> = {
  'a service account': { ...BASE, tokens: TOKENS },
  'a login': { ...BASE, ...LOGIN, epoch: 'one', tokens: { ...TOKENS, ...DOUBT } },
  'a login that the record recognizes': {
    ...BASE,
    ...LOGIN,
    ...{
      epoch: 'one',
      act: { owner: '00ff', n: 3, at: at - 2, ms: 1, version: 7 },
      owners: 64,
      ended: ['ab12'],
      began: '01',
      spent: ['02', '01'],
      past: ['03'],
    },
    tokens: { ...TOKENS, fingerprint: '04', dueMs: 30_000, context: '{}', credentials: 'ab', lossAt: at },
  },
  'logged out': { ...BASE, ...LOGIN, loginId: undefined, epoch: 'one' },
  'a lease': { ...BASE, tokens: TOKENS, lease: { at, ms: 15_000, owner: 'me', fence: at, settled: false } },
  'a cool-down': { ...BASE, ...LOGIN, tokens: TOKENS, coolDown: COOL_DOWN },
  'a cool-down without an end': { ...BASE, coolDown: { ...COOL_DOWN, ms: null } },
}

/** Writes the golden records of this release's schema, if there are none yet: run it once when the schema number is raised. */
async function writeMissing(): Promise<void> {
  const { schema } = JSON.parse(await textOf(BASE, KEY, OPEN)) as { schema: number }
  const file = `${FOLDER}/records-schema-${schema}.json`
  if (existsSync(file) || process.env.CI) return
  const golden: Golden[] = []
  for (const [name, state] of Object.entries(STATES))
    golden.push({ name, state, open: await textOf(state, KEY, OPEN), sealed: await textOf(state, KEY, SEALED) })
  writeFileSync(file, `${JSON.stringify(golden, undefined, 2)}\n`)
}

/** Each path of a state, and its value. */
const pathsOf = (value: object, path = ''): [string, string][] =>
  Object.entries(value).flatMap(([name, one]: [string, unknown]): [string, string][] => [
    [`${path}${name}`, one === null ? 'null' : typeof one],
    ...(typeof one === 'object' && one !== null ? pathsOf(one, `${path}${name}.`) : []),
  ])
/** A hint of a wrong kind is dropped. */
const HINTS = /^(act|ended|began|spent|past|owners|tokens\.(fingerprint|lossAt))\b/
const goldenOf = (file: string) => JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as Golden[]

describe('given the records that earlier releases have written (F297)', () => {
  it('when this release reads them, open and sealed, then all of their members are restored', async () => {
    await writeMissing()
    const files = readdirSync(FOLDER).filter((name) => name.startsWith('records-schema-'))
    expect(files).toContain('records-schema-1.json')
    for (const file of files)
      for (const { state, open, sealed } of goldenOf(file)) {
        expect(await storedIn(open, KEY, OPEN)).toEqual({ state })
        expect(await storedIn(sealed, KEY, SEALED)).toEqual({ state })
      }
  })

  it('when this release writes, then the shape is the one of its schema number: changing a member requires a new number', async () => {
    const { schema } = JSON.parse(await textOf(BASE, KEY, OPEN)) as { schema: number }
    const golden = goldenOf(`records-schema-${schema}.json`)
    for (const { name, state } of golden)
      expect(pathsOf(JSON.parse(JSON.stringify(STATES[name])) as object)).toEqual(pathsOf(state))
    // The kind of each value is still checked: a wrong kind makes the record unreadable.
    for (const { open, state } of golden)
      for (const path of Object.keys(Object.fromEntries(pathsOf(state)))) {
        const changed = JSON.parse(JSON.stringify(state)) as Record<string, unknown>
        const names = path.split('.')
        const owner = names.slice(0, -1).reduce((value, one) => value[one] as Record<string, unknown>, changed)
        owner[names.at(-1)!] = [true]
        const text = JSON.stringify({ ...(JSON.parse(open) as object), box: JSON.stringify(changed) })
        const flaw = HINTS.test(path) ? {} : { flaw: 'it is not a token record' }
        expect([path, await storedIn(text, KEY, OPEN)]).toMatchObject([path, flaw])
      }
  })
})
