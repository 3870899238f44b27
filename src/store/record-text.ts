import type { StoredAct } from '../core/acts.ts'
import { fingerprintOf, randomHex } from '../core/digest.ts'
import type { StoredLease, StoredTokenSet, RecordState, StoredCoolDown } from '../record/record-shape.ts'
import type { Unclear } from '../core/refresh-fate.ts'
import { EMPTY } from '../record/record-state.ts'
import { member, quietly } from '../core/thrown.ts'
import type { Absent } from '../core/whole.ts'
import { readAdopted } from '../core/grant.ts'
import type { KeyRing } from './sealed-box.ts'

/**
 * The version of the format. Raise it when you change or remove a member that earlier releases know: a release leaves documents with a higher number alone.
 * A new optional member needs no new number: earlier releases keep it and pass it on.
 */
const SCHEMA = 1
const MAX_LENGTH = 262_144

/** This process must leave the record alone: a newer release wrote it, or it is sealed with an unknown key. */
export class ForeignRecord extends Error {}

/** The content of a register. `flaw`: why the text counts as absent, if that is to be reported. */
export interface Stored {
  readonly state: RecordState | undefined
  readonly flaw: string | undefined
}

/** The readable part of a record, for operators and `holdsTokens`. It is authenticated, and the rules never read it. */
interface Shown {
  readonly version: number
  /** The fingerprint of the refresh token, as in events. */
  readonly fingerprint?: string
  readonly accessEnd?: string
  readonly refreshEnd?: string
  readonly leasedUntil?: string
  readonly coolsDownUntil?: string
}

interface Envelope {
  readonly schema: number
  /** Makes each written text unique: a late `replace` does not find the text that it expects, and does nothing. */
  readonly nonce: string
  readonly kid: string
  readonly shown: Shown
  readonly box: string
}

/** @param key The register's key: a sealed record that was copied to another key does not open. */
export async function textOf(state: RecordState, key: string, keyRing: KeyRing): Promise<string> {
  const [kid = ''] = await keyRing.ids()
  const head = { schema: SCHEMA, nonce: randomHex(), kid, shown: await shownOf(state) }
  const { box } = await keyRing.seal(JSON.stringify(state), contextOf(key, head))
  const text = JSON.stringify({ ...head, box } satisfies Envelope)
  // ASCII only, which every database and client stores and returns unchanged.
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** @throws {ForeignRecord} */
export async function storedIn(text: string, key: string, keyRing: KeyRing): Promise<Stored> {
  const envelope = text.length <= MAX_LENGTH ? quietly(() => JSON.parse(text) as unknown) : undefined
  const schema = member(envelope, 'schema')
  // JSON.parse reads 1e999 as Infinity. If that counted as a newer release, the record would never be replaced.
  if (!counter(schema) || schema < SCHEMA) return NO_RECORD
  if (schema > SCHEMA) throw new ForeignRecord('a newer release wrote it')
  if (!isEnvelope(envelope)) return NO_RECORD
  const isKnown = (await keyRing.ids()).includes(envelope.kid)
  if (!isKnown && envelope.kid !== '') throw new ForeignRecord(UNKNOWN_KEY)
  // Anyone with write access to the register could have made this record.
  if (!isKnown) return flawed('it was not sealed')
  const opened = await keyRing.open(envelope, contextOf(key, envelope)).catch(() => undefined)
  return opened === undefined ? flawed('it was changed, or sealed with another key of the same id') : openedIn(opened)
}

function openedIn(text: string): Stored {
  const state = withoutInvalidHints(quietly(() => JSON.parse(text) as unknown))
  const read = isRecordState(state) ? whole(state) : undefined
  return read && isInOrder(read) ? { state: read, flaw: undefined } : NO_RECORD
}

const NO_TOKENS: Absent<StoredTokenSet> = {
  ...{ refreshToken: undefined, refreshMs: undefined, fingerprint: undefined, dueMs: undefined, context: undefined },
  ...{ credentials: undefined, doubtAt: undefined, lossAt: undefined, unclear: undefined },
}
const NO_REASON: Absent<StoredCoolDown> = {
  status: undefined,
  serviceCode: undefined,
  loginReason: undefined,
  by: undefined,
}

/** The state with all members as own properties: the rules also read members that the text lacks (F365). */
function whole(read: RecordState): RecordState {
  const state = { ...EMPTY, ...read }
  const { tokens, coolDown } = state
  return {
    ...state,
    tokens: tokens && { ...NO_TOKENS, ...tokens },
    coolDown: coolDown && { ...NO_REASON, ...coolDown },
  }
}

const flawed = (flaw: string): Stored => ({ state: undefined, flaw })
const NO_RECORD = /* @__PURE__ */ flawed('it is not a token record')
/** No text. */
export const NONE: Stored = { state: undefined, flaw: undefined }
const UNKNOWN_KEY = 'it is sealed with a key that is not among encryptionKeys: add that key, or delete the record'

function contextOf(key: string, { schema, nonce, shown }: Omit<Envelope, 'box' | 'kid'>): string[] {
  return [key, String(schema), nonce, JSON.stringify(shown)]
}

async function shownOf({ version, tokens, lease, coolDown }: RecordState): Promise<Shown> {
  const at = (ms: number) => new Date(Math.min(ms, LAST_DATE)).toISOString()
  return {
    version,
    ...(tokens?.refreshToken !== undefined && { fingerprint: await fingerprintOf(tokens.refreshToken) }),
    ...(tokens && { accessEnd: at(tokens.at + tokens.accessMs) }),
    ...(tokens?.refreshMs !== undefined && { refreshEnd: at(tokens.at + tokens.refreshMs) }),
    ...(lease && { leasedUntil: at(lease.at + lease.ms) }),
    ...(coolDown && { coolsDownUntil: coolDown.ms === null ? 'reset()' : at(coolDown.at + coolDown.ms) }),
  }
}

/** The last instant that a Date can hold, epoch ms. */
const LAST_DATE = 8.64e15

type Check = (value: unknown) => boolean
const number: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const counter = (value: unknown): value is number => Number.isSafeInteger(value)
const text: Check = (value) => typeof value === 'string'
const texts: Check = (value) => Array.isArray(value) && value.every(text)
const flag: Check = (value) => typeof value === 'boolean'
/* @__NO_SIDE_EFFECTS__ */
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)

/** Whether a name can be an optional member of a later release. Such members are kept, so they must not shadow a method. */
const isOptionalName = (name: string) =>
  /^[a-z]\w*$/.test(name) && typeof Reflect.get(Object.prototype, name) !== 'function'

/** Accepts objects with these members, and with optional members of later releases. */
/* @__NO_SIDE_EFFECTS__ */
const shape =
  <Type>(members: Readonly<Record<keyof Type, Check>>) =>
  (value: unknown): value is Type =>
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).every((name) => Object.hasOwn(members, name) || isOptionalName(name)) &&
    Object.entries<Check>(members).every(([name, check]) => check(member(value, name)))

const isEnvelope = shape<Envelope>({ schema: counter, nonce: text, kid: text, shown: () => true, box: text })

const isTokenSet = shape<StoredTokenSet>({
  at: number,
  accessToken: text,
  accessLifetimeMs: number,
  accessMs: number,
  refreshToken: optional(text),
  refreshMs: optional(number),
  dueMs: optional(number),
  context: optional(text),
  credentials: optional(text),
  fence: counter,
  retired: flag,
  doubtAt: optional(number),
  lossAt: optional(number),
  fingerprint: optional(text),
  presentations: number,
  overlapped: flag,
  unclear: optional(shape<Unclear>({ at: number, says: text, times: number })),
})

const isRecordState = shape<Omit<RecordState, 'resources'>>({
  version: counter,
  fence: counter,
  clearedFence: counter,
  overlaps: flag,
  login: counter,
  subject: optional(text),
  loginId: optional(text),
  act: optional((act) => isAct(act)),
  ended: optional(texts),
  began: optional(text),
  spent: optional(texts),
  past: optional(texts),
  owners: optional(number),
  epoch: optional(text),
  tokens: optional((tokens) => isTokenSet(tokens) && isUsable(tokens)),
  lease: optional(
    shape<Omit<StoredLease, 'machine'>>({ at: number, ms: number, owner: text, fence: counter, settled: flag }),
  ),
  coolDown: optional(
    shape<StoredCoolDown>({
      at: number,
      ms: (ms) => ms === null || number(ms),
      failures: number,
      isFirm: flag,
      code: text,
      status: optional(number),
      serviceCode: optional(text),
      loginReason: optional(text),
      by: optional(text),
    }),
  ),
})

const isAct = shape<StoredAct>({ owner: text, n: counter, at: number, ms: number, version: counter })

/** Members that are only hints, with their types. A hint of the wrong type counts as absent: it must not cost a login. */
const HINTS: Readonly<Record<string, Check>> = {
  act: isAct,
  ended: texts,
  began: text,
  spent: texts,
  past: texts,
  owners: number,
}
const TOKEN_HINTS: Readonly<Record<string, Check>> = { fingerprint: text, lossAt: number }

function withoutInvalidHints(state: unknown): unknown {
  const all = [
    [state, HINTS],
    [member(state, 'tokens'), TOKEN_HINTS],
    [member(state, 'coolDown'), { by: text }],
  ] as const
  for (const [value, hints] of all)
    for (const [name, check] of Object.entries(hints))
      if (typeof value === 'object' && value !== null && !check(member(value, name)))
        Reflect.deleteProperty(value, name)
  return state
}

/** Checks that the last fence is the highest. Otherwise each later lease would count as outdated, and no new tokens would ever be stored. */
function isInOrder({ fence, clearedFence, tokens, lease }: RecordState): boolean {
  return fence >= Math.max(clearedFence, tokens?.fence ?? 0, lease?.fence ?? 0)
}

/** Checks stored tokens like those of a token source: axios would strip invalid characters, and send a different token. */
function isUsable({ accessToken, accessLifetimeMs, refreshToken }: StoredTokenSet): boolean {
  const grant = { accessToken: accessToken === '' ? null : accessToken, accessLifetimeMs, refreshToken }
  return quietly(() => readAdopted(grant)) !== undefined
}

/** Whether a text may hold tokens, according to its readable part. False for a record after a logout or a reset. */
export function holdsTokens(text: string): boolean {
  const readable = quietly(() => member(JSON.parse(text) as unknown, 'shown'))
  return readable === undefined || member(readable, 'accessEnd') !== undefined
}
