import { fingerprintOf } from '../core/digest.ts'
import { randomHex } from '../core/hex.ts'
import type { RecordState } from '../core/record-shape.ts'
import { member } from '../core/thrown.ts'
import { readGrant } from '../core/token-source.ts'
import type { KeyRing } from './sealed-box.ts'

/** Raised when the stored document changes its shape: older processes then leave it alone. */
const SCHEMA = 2
const MAX_LENGTH = 262_144

/** The record may be left to those who understand it: it is of a newer release, or sealed with an unknown key. */
export class ForeignRecord extends Error {}

/** What stands in a register. `flaw`: why it counts as absent, if somebody should know. */
export interface Stored {
  readonly state?: RecordState
  readonly flaw?: string
}

/** What people look at. It is authenticated, and the rules never read it. */
interface Shown {
  readonly version: number
  /** Of the refresh token, as events name it. */
  readonly fingerprint?: string
  readonly accessEnd?: string
  readonly refreshEnd?: string
  readonly claimedUntil?: string
  readonly restsUntil?: string
}

interface Envelope {
  readonly schema: number
  /** No two states are ever the same text, so a late `replace` finds another one and does nothing. */
  readonly nonce: string
  readonly kid: string
  readonly shown: Shown
  readonly box: string
}

/** @param key The register's key: a sealed record that was moved elsewhere does not open. */
export async function textOf(state: RecordState, key: string, keyRing: KeyRing): Promise<string> {
  const [kid] = keyRing.ids as [string, ...string[]]
  const head = { schema: SCHEMA, nonce: randomHex(), kid, shown: await shownOf(state) }
  const { box } = await keyRing.seal(JSON.stringify(state), contextOf(key, head))
  return JSON.stringify({ ...head, box } satisfies Envelope)
}

/** @throws {ForeignRecord} */
export async function storedIn(text: string, key: string, keyRing: KeyRing): Promise<Stored> {
  const envelope = text.length <= MAX_LENGTH ? parsed(text) : undefined
  const schema = member(envelope, 'schema')
  if (typeof schema !== 'number') return UNKNOWN
  if (schema > SCHEMA) throw new ForeignRecord('a newer release wrote it')
  // One of an older release is absent: its tokens are obtained anew, once.
  if (schema < SCHEMA) return {}
  if (!isEnvelope(envelope)) return UNKNOWN
  if (!keyRing.ids.includes(envelope.kid)) {
    if (envelope.kid !== '') throw new ForeignRecord('it is sealed with a key that is not among encryptionKeys')
    // Anybody could have written it.
    return { flaw: 'it was not sealed' }
  }
  try {
    const state = parsed(await keyRing.open(envelope, contextOf(key, envelope)))
    return isRecordState(state) ? { state } : UNKNOWN
  } catch {
    return { flaw: 'it could not be opened' }
  }
}

const UNKNOWN: Stored = { flaw: 'it was no token record' }

function contextOf(key: string, { schema, nonce, shown }: Omit<Envelope, 'box' | 'kid'>): string[] {
  return [key, String(schema), nonce, JSON.stringify(shown)]
}

async function shownOf({ version, pair, claim, rest }: RecordState): Promise<Shown> {
  const at = (ms: number) => new Date(Math.min(ms, LAST_DATE)).toISOString()
  return {
    version,
    ...(pair?.refreshToken !== undefined && { fingerprint: await fingerprintOf(pair.refreshToken) }),
    ...(pair && { accessEnd: at(pair.at + pair.accessMs) }),
    ...(pair?.refreshMs !== undefined && { refreshEnd: at(pair.at + pair.refreshMs) }),
    ...(claim && { claimedUntil: at(claim.at + claim.ms) }),
    ...(rest && { restsUntil: rest.ms === null ? 'reset()' : at(rest.at + rest.ms) }),
  }
}

/** Beyond it a Date is no date. */
const LAST_DATE = 8.64e15

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Check = (value: unknown) => boolean
const number: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const text: Check = (value) => typeof value === 'string'
const flag: Check = (value) => typeof value === 'boolean'
const any: Check = () => true
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)

/** Exactly these members, and no other. */
const shape =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).every((name) => Object.hasOwn(members, name)) &&
    Object.entries(members).every(([name, check]) => check(member(value, name)))

const isEnvelope = shape({ schema: number, nonce: text, kid: text, shown: any, box: text }) as (
  value: unknown,
) => value is Envelope

const isPair = shape({
  at: number,
  accessToken: text,
  accessLifetimeMs: number,
  accessMs: number,
  refreshToken: optional(text),
  refreshMs: optional(number),
  fence: number,
  retired: flag,
  doubtAt: optional(number),
  presentations: number,
  overlapped: flag,
})

const hasShapeOfState = shape({
  version: number,
  fence: number,
  clearedFence: number,
  overlaps: flag,
  epoch: optional(text),
  pair: optional((pair) => isPair(pair) && isUsable(pair as NonNullable<RecordState['pair']>)),
  claim: optional(shape({ at: number, ms: number, owner: text, fence: number, settled: flag })),
  rest: optional(
    shape({
      at: number,
      ms: (ms) => ms === null || number(ms),
      failures: number,
      isFirm: flag,
      code: text,
      status: optional(number),
      serviceCode: optional(text),
    }),
  ),
})

function isRecordState(state: unknown): state is RecordState {
  return hasShapeOfState(state)
}

/** Tokens that no source could have given would be sent as something else. */
function isUsable({ accessToken, accessLifetimeMs, refreshToken }: NonNullable<RecordState['pair']>): boolean {
  try {
    readGrant({ accessToken, accessLifetimeMs, ...(refreshToken !== undefined && { refreshToken }) })
    return true
  } catch {
    return false
  }
}
