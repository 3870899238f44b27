import type { DatedAct } from '../core/acts.ts'
import { doubted, fateAfter, presentableIn } from '../core/refresh-fate.ts'
import {
  type LeaseResult,
  type LeaseTerms,
  type CoolDown,
  type Decide,
  type EndTerms,
  type Lease,
  type CheckResult,
  type Next,
  NO_OTHERS,
  NO_TERMS,
  type ReleaseResult,
  type Report,
  RESERVE_MS,
} from '../core/lease.ts'
import { isOther } from './identity.ts'
import type { NewTokens, StoredTokens } from '../core/stored-tokens.ts'
import { bare, type Whole } from '../core/whole.ts'
import {
  type Change,
  type StoredLease,
  type StoredTokenSet,
  type Reading,
  type RecordState,
  type StoredCoolDown,
  unchanged,
} from './record-shape.ts'
import { ownersAfter } from './fleet.ts'
import { spentAfter } from './known-logins.ts'
import { inEpoch, lossWaitMs } from './lost-writes.ts'
import { coolDownIn, isNewer, keeps, leftOf, leftOnMachine, type Seen, tokensIn, whyMissing } from './record-views.ts'

/** All members are its own, so a polluted `Object.prototype` adds nothing to a record (F365). */
export const EMPTY: RecordState = {
  ...{ version: 0, fence: 0, clearedFence: 0, overlaps: false, login: 0, act: undefined, ended: undefined },
  ...{ subject: undefined, loginId: undefined, began: undefined, spent: undefined, past: undefined },
  ...{ owners: undefined, epoch: undefined, tokens: undefined, lease: undefined, coolDown: undefined },
}

/** Who requests a lease, and what this owner has seen. */
interface Applicant {
  readonly owner: string
  readonly seenVersion: number
  readonly ttlMs: number
}
type LeaseRequest = Applicant & LeaseTerms

type Fenced = Pick<Lease, 'fence' | 'version' | 'login' | 'epoch' | 'tokens'>

/** Requests a lease for one exchange. */
export function acquire(stored: RecordState | undefined, request: LeaseRequest, reading: Reading): Change<LeaseResult> {
  const { now } = reading
  const state = inEpoch(stored ?? EMPTY, reading)
  const { tokens, coolDown } = state
  if (tokens && isNewer(state, request)) return unchanged({ kind: 'newer', tokens: tokensIn(state, tokens, now) })
  const isBroken = (coolDown?.isFirm === false && request.breaksCoolDown === true) || isOfOthers(coolDown, request)
  const leftMs = coolDown && !isBroken ? leftOf(coolDown, now) : 0
  if (coolDown && leftMs > 0) return unchanged({ kind: 'cooling', coolDown: coolDownIn(coolDown, leftMs) })
  const busy = busyIn(state, request, reading) ?? lossIn(state, request, now)
  return busy ? unchanged(busy) : granted(state, request, reading, request)
}

/** Whether the rejected credentials differ from those of the owner that requests a lease. */
function isOfOthers(coolDown: StoredCoolDown | undefined, { credentialsDigest }: LeaseTerms): boolean {
  return coolDown?.by !== undefined && credentialsDigest !== undefined && coolDown.by !== credentialsDigest
}

const LOST_WRITES = {
  ...({ kind: 'cool-down', isFirm: true, failures: 0, code: 'ERR_STORE_UNAVAILABLE', status: undefined } as const),
  ...{ serviceCode: undefined, loginReason: undefined, by: undefined },
}

/** Whether another owner may still have the successor of the refresh token. */
function lossIn(state: RecordState, request: LeaseTerms, now: number) {
  const waitMs = lossWaitMs(state, request, now)
  return waitMs > 0 ? ({ kind: 'cooling', coolDown: { ...LOST_WRITES, ms: waitMs } } as const) : undefined
}

/**
 * Requests a lease for a logout, so that no other owner has an exchange in flight whose tokens would outlive the logout. Cool-downs and newer tokens of the
 * same login are ignored.
 */
export function acquireForLogout(
  stored: RecordState | undefined,
  request: Applicant & Omit<EndTerms, 'act'>,
  reading: Reading,
  act?: DatedAct,
): Change<LeaseResult> {
  const { now } = reading
  const state = inEpoch(stored ?? EMPTY, reading)
  const { tokens } = state
  if (tokens && keeps(state, request, act)) return unchanged({ kind: 'newer', tokens: tokensIn(state, tokens, now) })
  // A logout does not wait for a pause between two exchanges.
  const busy = state.lease?.settled ? undefined : busyIn(state, request, reading)
  return busy ? unchanged(busy) : granted(state, request, reading)
}

/** Whether another owner holds the lease. */
function busyIn({ lease }: RecordState, { owner, others = NO_OTHERS }: Applicant & EndTerms, reading: Reading) {
  // An owner that requests a lease again has no exchange in flight. Nor does a dead owner.
  if (!lease || lease.owner === owner || (!lease.settled && lease.owner === others.dead)) return undefined
  // If a clock was set, a lease may only seem to have expired. It counts in full until its owner reports.
  const onWallMs = others.distrustsClock && !lease.settled ? lease.ms : leftOf(lease, reading.now)
  const remainingMs = leftOnMachine(lease, reading) ?? onWallMs
  const by = lease.settled ? undefined : lease.owner
  return remainingMs > 0 ? ({ kind: 'busy', remainingMs, by } as const) : undefined
}

/** @param terms Undefined: the lease is for a logout, and presents nothing. */
function granted(
  stored: RecordState,
  { owner, seenVersion, ttlMs, others }: Applicant & EndTerms,
  { now, machine }: Reading,
  terms?: LeaseTerms,
): Change<Lease> {
  const state = others?.overlap ? (overlapping(stored, true) ?? stored) : stored
  // The last owner stalled, or could not report how its exchange ended: it may have presented the refresh token.
  const open = state.lease?.settled === false ? state.lease : undefined
  // A version below one that this owner has seen comes from a restored copy, whose refresh token is spent.
  const kept = state.version < seenVersion ? undefined : state.tokens
  const tokens = kept && open ? doubted(kept, open.at) : kept
  const version = Math.max(state.version, seenVersion)
  const fence = Math.max(state.fence + 1, Math.floor(now))
  const next: RecordState = {
    ...state,
    version,
    fence,
    tokens,
    overlaps: state.overlaps || open !== undefined,
    lease: { at: now, machine, ms: ttlMs, owner, fence, settled: terms === undefined },
  }
  return { state: next, result: grantIn(next, state.version < seenVersion, now, terms) }
}

/** The lease as its owner receives it. @param isLost Whether the owner has seen a later version. */
function grantIn(state: RecordState, isLost: boolean, now: number, terms?: LeaseTerms): Whole<Lease> {
  const { epoch, fence, login, tokens, coolDown, version } = state
  const missing = isLost ? 'lost' : whyMissing(state, 0)
  return {
    kind: 'granted',
    fence,
    version,
    login,
    epoch,
    presentations: tokens?.presentations ?? 0,
    failures: isOfOthers(coolDown, terms ?? NO_TERMS) ? 0 : (coolDown?.failures ?? 0),
    overlapped: tokens?.overlapped ?? false,
    ...{ isPrivate: undefined, view: undefined },
    ...presentableIn(tokens, terms, now),
    tokens: tokens && tokensIn(state, tokens, now),
    missing: tokens ? undefined : missing,
  }
}

/**
 * Completes a lease with new tokens. If two leases return tokens, those of the later lease stay, in whichever order they arrive. A lease granted before a
 * `clear`, or for another login, stores nothing.
 */
export function accept(
  stored: RecordState | undefined,
  lease: Fenced,
  tokens: NewTokens,
  reading: Reading,
): Change<StoredTokens | undefined> {
  const { now } = reading
  const { fence } = lease
  const state = inEpoch(stored ?? EMPTY, reading)
  if (fence <= (state.tokens?.fence ?? 0) || fence <= state.clearedFence || isOther(lease, state)) {
    const result = state.tokens && tokensIn(state, state.tokens, now)
    if (fence === state.tokens?.fence) return unchanged(result)
    // This exchange overlapped that of the stored tokens, or the one in flight. At some services, each of two overlapping exchanges ends the session
    // of the other.
    const next = overlapping(state, state.overlaps || state.lease?.settled === false)
    // If the record was lost and its clock set back, the lease of this exchange may still be stored, with a fence below that of the tokens.
    return { state: state.lease?.fence === fence ? { ...(next ?? state), lease: undefined } : next, result }
  }
  return settled(state, bare(lease), bare(tokens), now)
}

/** The token set that a lease stores. */
function tokenSetOf(
  state: RecordState,
  { fence, epoch = state.epoch }: Fenced,
  tokens: NewTokens,
  now: number,
): StoredTokenSet {
  const isContested = state.fence !== fence
  // The register may have executed the step in the epoch of its lease, and lost writes afterwards. Another owner may have used the refresh token since.
  const isDoubted = state.epoch !== undefined && epoch !== state.epoch
  const { accessToken, accessLifetimeMs, refreshToken, context, credentials, retired = false, doubtMs } = tokens
  return {
    at: now,
    accessToken,
    accessLifetimeMs,
    refreshToken,
    context,
    credentials,
    accessMs: tokens.accessRemainingMs,
    refreshMs: tokens.refreshRemainingMs,
    fingerprint: tokens.fingerprint,
    dueMs: tokens.dueRemainingMs,
    fence,
    retired,
    doubtAt: isDoubted ? 0 : doubtMs === undefined ? undefined : now - doubtMs,
    lossAt: isDoubted ? now : undefined,
    presentations: 0,
    unclear: undefined,
    overlapped: state.overlaps || isContested,
  }
}

/** The record after a lease has stored its token set. */
export function settled(state: RecordState, lease: Fenced, tokens: NewTokens, now: number): Change<StoredTokens> {
  const { fence, version, login = 0 } = lease
  const isContested = state.fence !== fence
  const kept = tokenSetOf(state, lease, tokens, now)
  // If the record was lost, only the lease still has its login. The new record may have a lower fence.
  const before = state.login === 0 ? lease.tokens : undefined
  const next: RecordState = {
    ...state,
    version: Math.max(state.version, version) + 1,
    fence: Math.max(state.fence, fence),
    login: Math.max(state.login, login),
    overlaps: isContested,
    subject: tokens.subject,
    loginId: tokens.loginId ?? state.loginId ?? before?.loginId,
    spent: spentAfter(state, tokens),
    owners: ownersAfter(state),
    tokens: kept,
    lease: state.lease?.fence === fence ? undefined : state.lease,
    coolDown: undefined,
  }
  return { state: next, result: tokensIn(next, kept, now) }
}

/** Completes a lease whose exchange failed. Changes nothing if the record no longer holds this lease. */
export function release(
  stored: RecordState | undefined,
  { fence, version }: Fenced,
  given: Report | Decide,
  reading: Reading,
): Change<ReleaseResult> {
  const { now } = reading
  const state = inEpoch(stored ?? EMPTY, reading)
  const { tokens, lease } = state
  const newer = tokens && state.version > version ? tokensIn(state, tokens, now) : undefined
  const result: Whole<ReleaseResult> = { contested: state.fence !== fence || tokens?.overlapped === true, newer }
  const report = typeof given === 'function' ? given(result) : given
  if (lease?.fence !== fence) return unchanged(result)
  const kept = report.drops ? undefined : tokens
  const after = kept && !newer ? fateAfter(kept, lease, report, now) : kept
  return { state: released({ ...state, tokens: after }, lease, report.shared, reading), result }
}

/** The lease stays if its owner makes the next request. */
function released(state: RecordState, lease: StoredLease, next: Next | undefined, reading: Reading): RecordState {
  const { now, machine } = reading
  if (next === undefined) return { ...state, lease: undefined }
  if (next.kind === 'retry')
    return { ...state, lease: { ...lease, at: now, machine, ms: next.ms + RESERVE_MS, settled: true } }
  return { ...state, lease: undefined, coolDown: storedCoolDown(next, now) }
}

/** Checks what has become of a login, without a lease. */
export function check(stored: RecordState | undefined, seen: Seen, reading: Reading): Change<CheckResult | undefined> {
  const { now } = reading
  const state = inEpoch(stored ?? EMPTY, reading)
  const { tokens, coolDown } = state
  if (tokens && isNewer(state, seen)) return unchanged({ kind: 'newer', tokens: tokensIn(state, tokens, now) })
  if (coolDown?.code === 'ERR_LOGIN_REQUIRED')
    return unchanged({ kind: 'cooling', coolDown: coolDownIn(coolDown, leftOf(coolDown, now)) })
  return unchanged(tokens ? undefined : { kind: 'missing', missing: whyMissing(state, seen.seenVersion) })
}

/** Notes an exchange that was made without the record. At some services it ends the session of the stored tokens and of the next ones. */
export function overlap(stored: RecordState | undefined, reading: Reading): Change<undefined> {
  return { state: overlapping(inEpoch(stored ?? EMPTY, reading), true), result: undefined }
}

/**
 * Marks the stored token set as overlapped.
 *
 * @param overlaps Whether to mark the next token set as well.
 * @returns undefined if nothing changes: each process of a fleet may note the same.
 */
function overlapping(state: RecordState, overlaps: boolean): RecordState | undefined {
  const { tokens } = state
  if (overlaps === state.overlaps && tokens?.overlapped !== false) return undefined
  return { ...state, tokens: tokens && { ...tokens, overlapped: true }, overlaps }
}

function storedCoolDown({ kind, ms, ...reason }: CoolDown, at: number): StoredCoolDown {
  return { at, ms: ms === Infinity ? null : ms, ...reason }
}
