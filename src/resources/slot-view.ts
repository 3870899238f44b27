import { member } from '../core/thrown.ts'
import { type Absent, bare } from '../core/whole.ts'
import type { Change, Reading, RecordState, StoredCoolDown, StoredTokenSet } from '../record/record-shape.ts'
import { isOfResource } from './refusals.ts'

/** The access token of one resource in the record. Instants and durations as in `StoredTokenSet`. */
export interface Slot {
  readonly at: number
  readonly accessToken: string
  readonly accessLifetimeMs: number
  readonly accessMs: number
  readonly dueMs?: number | undefined
  /** The last use of the token, as of the last write by a process that used it. */
  readonly usedAt: number
  /** Set if the server rejects this resource. */
  readonly coolDown?: StoredCoolDown | undefined
}

/** The slots of one login, by digest. Those of an earlier login count as absent: a release without resources does not delete them. */
interface Slots {
  readonly login: number
  readonly slots: Readonly<Record<string, Slot>>
}

/** A record with slots. */
type Slotted = RecordState & { readonly resources?: Slots | undefined }

export type Step<Result> = (state: RecordState | undefined, reading: Reading) => Change<Result>

/** What one process knows about its resources. */
export interface SlotUse {
  /** The digest of the resource. */
  readonly digest: string
  /** @returns The digests of the resources that this process has used since it last wrote the record. */
  readonly used: () => readonly string[]
  /** Called by each run of a step. If another owner was faster, the store runs the step again: only the last run counts. */
  readonly onRun: (written: Written) => void
}

/** What a step writes, by digest: the uses of resources, and tokens that were dropped because the record was too large. */
export interface Written {
  readonly used: readonly string[]
  readonly tooLarge: readonly string[]
}

export const NOTHING_WRITTEN: Written = { used: [], tooLarge: [] }

/** The maximum number of access tokens besides the login's own. */
const MOST_SLOTS = 16
/** The maximum length of a record, bytes. All databases and clients accept a text of this length. */
const LONGEST_RECORD = 65_536

/**
 * Lets a step of the record see the access token of a resource instead of the login's own: the state is projected, the step runs, and what it changed is
 * merged into the record. So the lease, the refresh token and its doubts are those of the login, and the rules exist only once.
 */
export function throughSlot<Result>(step: Step<Result>, use: SlotUse): Step<Result> {
  return (stored, reading) => {
    const projected = stored && projectedFor(stored, use.digest, reading.now)
    const { state, result } = step(projected, reading)
    const merged = state && mergedInto(stored ?? NOTHING, projected ?? NOTHING, state, use, reading.now)
    use.onRun(merged ? merged.written : NOTHING_WRITTEN)
    return { state: merged?.state, result }
  }
}

/** Lets a step of the login's own manager drop expired tokens of resources from what it writes (F422). */
export function withoutExpired<Result>(step: Step<Result>): Step<Result> {
  return (stored, reading) => {
    const { state, result } = step(stored, reading)
    return { state: state && freed(state, reading.now), result }
  }
}

function freed(state: RecordState, now: number): RecordState {
  const slots = Object.entries(slotsOf(state))
  const left = kept(slots, now, MOST_SLOTS)
  return left.length < slots.length ? withSlots(state, left, []).state : state
}

/** As `leftOf` of `src/record`, whose code a page without a store does not load. */
function left({ at, ms }: Pick<StoredCoolDown, 'at' | 'ms'>, now: number): number {
  if (ms === null) return Infinity
  return at - now > 1_000 ? 0 : Math.min(ms, at + ms - now)
}

function slotsOf(state: RecordState): Readonly<Record<string, Slot>> {
  const { login, slots } = (member(state, 'resources') ?? {}) as Partial<Slots>
  if (login !== state.login || typeof slots !== 'object') return {}
  const known = Object.entries(slots).filter(([, slot]) => isSlot(slot))
  return Object.fromEntries(known.map(([digest, slot]) => [digest, { ...ABSENT, ...slot }]))
}

function isSlot(slot: unknown): slot is Slot {
  const numbers = ['at', 'accessLifetimeMs', 'accessMs', 'usedAt'].every((name) => Number.isFinite(member(slot, name)))
  return numbers && typeof member(slot, 'accessToken') === 'string'
}

/** Optional members as own properties: see `Whole`. */
const ABSENT: Absent<Slot> = { dueMs: undefined, coolDown: undefined }
const NOTHING = bare({}) as RecordState
const NO_ACCESS = { accessToken: '', accessLifetimeMs: 0, accessMs: 0, dueMs: undefined }

/** The record as the manager of one resource sees it. */
function projectedFor(state: RecordState, digest: string, now: number): RecordState {
  const { tokens, coolDown } = state
  const slot = slotsOf(state)[digest]
  return {
    ...state,
    tokens: tokens && { ...rebased(tokens, now), ...(slot ? accessIn(slot, now) : NO_ACCESS) },
    coolDown: longer(coolDown, slot?.coolDown, now),
  }
}

/** An access token with its durations counted from `now`. No duration grows if `at` is in the future. */
function accessIn({ at, accessToken, accessLifetimeMs, accessMs, dueMs }: Omit<Slot, 'usedAt'>, now: number) {
  return { accessToken, accessLifetimeMs, accessMs: left({ at, ms: accessMs }, now), dueMs: lessPassed(dueMs, at, now) }
}

/** The token set with its durations counted from `now`. */
function rebased(tokens: StoredTokenSet, now: number): StoredTokenSet {
  return { ...tokens, ...accessIn(tokens, now), at: now, refreshMs: lessPassed(tokens.refreshMs, tokens.at, now) }
}

function lessPassed(ms: number | undefined, at: number, now: number): number | undefined {
  return ms === undefined ? undefined : ms - Math.max(0, now - at)
}

/** @returns The rest of a cool-down, ms. -Infinity: there is none. */
function restOf(coolDown: StoredCoolDown | undefined, now: number): number {
  return coolDown ? left(coolDown, now) : -Infinity
}

function longer(one: StoredCoolDown | undefined, other: StoredCoolDown | undefined, now: number) {
  return restOf(other, now) > restOf(one, now) ? other : one
}

/** The record after a step, and what the step has written about resources. */
interface Merged {
  readonly state: RecordState
  readonly written: Written
}

/** The record after a step that received `projected` and returned `after`. */
function mergedInto(
  before: RecordState,
  projected: RecordState,
  after: RecordState,
  use: SlotUse,
  now: number,
): Merged {
  const { tokens, coolDown } = after
  const isStored = tokens !== undefined && tokens.fence !== projected.tokens?.fence
  const isSame = coolDown === projected.coolDown
  const refused = !isSame && coolDown && isOfResource(coolDown) ? coolDown : undefined
  const merged: RecordState = {
    ...after,
    tokens: tokens && ownAgain(before.tokens, tokens, isStored, now),
    coolDown: refused || isSame ? before.coolDown : coolDown,
  }
  const slots = slotsOf(before)
  if (isStored) return withSlot(merged, slots, slotIn(tokens, now), use, now)
  if (!refused) return { state: merged, written: NOTHING_WRITTEN }
  const { [use.digest]: slot = { ...NO_ACCESS, at: now } } = slots
  return withSlot(merged, slots, { ...slot, usedAt: now, coolDown: refused }, use, now)
}

/** The record with this slot instead of the old one. Other slots that this process has used are marked as used now. */
function withSlot(state: RecordState, before: Slots['slots'], slot: Slot, use: SlotUse, now: number): Merged {
  const { [use.digest]: _, ...others } = before
  const used = use.used()
  const marked = Object.entries(others).map(([digest, other]): [string, Slot] => [
    digest,
    used.includes(digest) ? { ...other, usedAt: now } : other,
  ])
  return withSlots(state, [[use.digest, slot], ...kept(marked, now, MOST_SLOTS - 1)], used)
}

/** Restores the login's own access token. */
function ownAgain(
  own: StoredTokenSet | undefined,
  after: StoredTokenSet,
  isStored: boolean,
  now: number,
): StoredTokenSet {
  if (!isStored && own) {
    const { at, accessToken, accessLifetimeMs, accessMs, refreshMs, dueMs } = own
    return { ...after, at, accessToken, accessLifetimeMs, accessMs, refreshMs, dueMs }
  }
  const { accessToken, accessLifetimeMs, accessMs, dueMs } = own ? rebased(own, now) : NO_ACCESS
  return { ...after, accessToken, accessLifetimeMs, accessMs, dueMs }
}

function slotIn({ accessToken, accessLifetimeMs, accessMs, dueMs }: StoredTokenSet, now: number): Slot {
  return { ...ABSENT, at: now, accessToken, accessLifetimeMs, accessMs, dueMs, usedAt: now }
}

/** Drops expired slots and, if there are still too many, the least recently used. */
function kept(slots: readonly [string, Slot][], now: number, most: number): [string, Slot][] {
  return slots
    .filter(([, { at, accessMs, coolDown }]) => left({ at, ms: accessMs }, now) > 0 || restOf(coolDown, now) > 0)
    .sort(([, one], [, other]) => other.usedAt - one.usedAt)
    .slice(0, most)
}

/** Drops the largest tokens until the record is short enough. */
function withSlots(state: RecordState, all: [string, Slot][], used: readonly string[]): Merged {
  const left = [...all].sort(([, one], [, other]) => other.accessToken.length - one.accessToken.length)
  const tooLarge: string[] = []
  for (;;) {
    const resources: Slots = { login: state.login, slots: Object.fromEntries(left) }
    const next: Slotted = { ...state, resources: left.length > 0 ? resources : undefined }
    const [largest] = left
    if (!largest || lengthOf(next) <= LONGEST_RECORD) return { state: next, written: { used, tooLarge } }
    tooLarge.push(largest[0])
    left.shift()
  }
}

/** An upper bound for the length of the text that a register receives: sealed, in base64 and with its envelope. */
function lengthOf(state: RecordState): number {
  const text = JSON.stringify(JSON.stringify(state)).replace(/[^\0-\x7f]/g, '\\uffff')
  return text.length * 1.34 + 1_024
}
