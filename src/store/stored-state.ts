import type { Clock } from '../core/clock.ts'
import { withinLimit } from '../core/deadline.ts'
import type { MachineInstant } from '../core/lease.ts'
import { digestOf } from '../core/digest.ts'
import type { Change, Reading, RecordState } from '../record/record-shape.ts'
import { isOlder, withSeen } from '../record/lost-writes.ts'
import { keptMs } from '../record/record-views.ts'
import type { StoreReports } from '../core/token-store.ts'
import { bare } from '../core/whole.ts'
import { NoReply } from './reason.ts'
import { ForeignRecord, NONE, type Stored, storedIn, textOf } from './record-text.ts'
import { type KeyRing, UnusableKeys } from './sealed-box.ts'
import type { Steps } from './steps.ts'
import type { Together } from './together.ts'
import type { RegisterReading, TokenRegister } from './token-register.ts'

export interface StoredStateSettings {
  readonly register: TokenRegister
  /** The clock of the machine that all owners share, for leases: an owner that starts after the wall clock was set cannot know that it was. */
  readonly machineNow: (() => MachineInstant | undefined) | undefined
  readonly prefix: string
  readonly keyRing: KeyRing
  readonly commandTimeoutMs: number
  readonly steps: Steps
  readonly reads: Together<StoredReading>
  /** Pending replaces by key: only one owner in this process replaces the text at a time. The others would expect a text that is gone. */
  readonly writing: Map<string, Promise<unknown>>
  /** When this process first saw an epoch, by the clock of the register. */
  readonly epochs: Map<string, number>
}

/** How a reading compares with the monotonic clock of this process. */
interface Asked {
  /** By how much the clock of the register is ahead, and the uncertainty of that, ms. */
  readonly leadMs: number
  readonly tookMs: number
}
/** A reading by which acts of this process can be dated. */
export type TimedReading = Reading & Asked

/** The content of the register. */
export interface StoredReading extends RegisterReading, Stored, Asked {}

/** The content of the register when it was last read or written. */
interface Known {
  readonly text: string | undefined
  readonly state: RecordState | undefined
  readonly reading: TimedReading
  /** When that was, by the monotonic clock of this process. */
  readonly at: number
}

interface Replacing extends Known {
  readonly state: RecordState
}

export type Step<Result> = (state: RecordState | undefined, reading: TimedReading) => Change<Result>

export interface How<Result> {
  /** What this owner wrote last, used instead of a reading. */
  readonly from?: Known | undefined
  /** Factor on `commandTimeoutMs`. Default 1. */
  readonly patience?: number
  readonly isOfLease?: boolean
  /** The step may replace a record that cannot be read, although it may hold a login. */
  readonly replacesAny?: boolean
  /** The register has executed the step, but its response came too late. */
  readonly onLate?: (result: Result) => void
}

/** Each failed attempt means that another owner's attempt succeeded. */
const MAX_ATTEMPTS = 16
const MOST_EPOCHS = 1_000
const DAY_MS = 24 * 60 * 60 * 1_000
/** A hundred years. Databases reject longer times, and the end of a stop is Infinity. */
const LONGEST_MS = 36_525 * DAY_MS

/**
 * The state of one account in a register. Each step reads the text, applies a rule of the record, and replaces the text; if another owner was faster, the
 * step starts again. It rejects if the register does not respond in time. A `replace` that is executed twice has no further effect.
 */
export class StoredState {
  readonly #settings: StoredStateSettings
  readonly #clock: Clock
  readonly #reports: StoreReports
  /** The key of the account in the register. */
  readonly key: Promise<string>
  /** What the last step of this owner has written, except steps with `isOfLease: false`. The owner completes a lease from it, without reading again. */
  known: Known | undefined
  /** Only a user can obtain, so a record that cannot be read may hold a login. */
  isOfLogin = false
  #isEpochUnknown = false
  /** The newest record that this owner has seen. */
  seen: RecordState | undefined

  constructor(settings: StoredStateSettings, key: string, clock: Clock, reports: StoreReports) {
    this.#settings = settings
    this.#clock = clock
    this.#reports = reports
    // Hashed, because the key contains a login. The braces are the hash tag of a Redis Cluster.
    this.key = digestOf('SHA-256', key).then((digest) => `{${settings.prefix}:${digest.slice(0, 32)}}`)
  }

  /** @param how.isOfLease False for steps that run in parallel with the leases of this owner, such as `overlap`: their text must not become `known`. */
  async change<Result>(step: Step<Result>, given: How<Result> = {}): Promise<Result> {
    const how = bare(given)
    const { writing } = this.#settings
    if (!this.#settings.keyRing.isKnown) await this.#keysKnown(how.patience)
    const key = await this.key
    let known = how.from && this.#carried(how.from)
    for (let attempts = 0; attempts < MAX_ATTEMPTS; known = undefined) {
      known ??= await this.#read(key, how)
      const { state, result } = this.#changeOf(known, step)
      if (!state) return result
      const other = writing.get(key)
      if (other) {
        await other
        continue
      }
      const replacing = this.#replace(key, { ...known, state }, how, () => how.onLate?.(result))
      const end = () => void writing.delete(key)
      writing.set(key, replacing.then(end, end))
      if (await replacing) return result
      attempts += 1
    }
    throw new NoReply(`the record changed ${MAX_ATTEMPTS} times in a row`)
  }

  #changeOf<Result>({ state: before, reading }: Known, step: Step<Result>): Change<Result> {
    const current = before && withSeen(before, this.seen, reading)
    // What this owner restores, or has seen of a loss, must also reach the others.
    const isMended = current?.tokens !== before?.tokens
    const { state = isMended ? current : undefined, result } = step(current, reading)
    return { state, result }
  }

  /** @throws {ForeignRecord} if the record cannot be read, and may hold a login. */
  async #read(key: string, { patience, replacesAny = false }: How<never>): Promise<Known> {
    const { register, keyRing, steps, reads } = this.#settings
    const stored = bare(
      await reads.run(`${key} ${patience}`, async () => {
        const askedAt = this.#clock.monotonicNow()
        const reading = await steps.run(() => register.read(key), this.#limit(patience))
        const at = this.#clock.monotonicNow()
        return {
          ...reading,
          leadMs: reading.now - at,
          tookMs: at - askedAt,
          ...(reading.value === undefined ? NONE : await storedIn(reading.value, key, keyRing)),
        }
      }),
    )
    if (stored.flaw !== undefined && this.isOfLogin && !replacesAny) throw new ForeignRecord(stored.flaw)
    this.#report(stored)
    // To the rules, an epoch that may not be read is absent.
    const epoch = stored.epoch ?? undefined
    const { now, leadMs, tookMs } = stored
    const reading = {
      now,
      machine: this.#settings.machineNow?.(),
      leadMs,
      tookMs,
      epoch,
      epochAt: stored.epochAt ?? this.#seenAt(epoch, now),
    }
    this.#see(stored.state)
    return { text: stored.value, state: stored.state, reading, at: this.#clock.monotonicNow() }
  }

  #seenAt(epoch: string | undefined, now: number): number | undefined {
    const { epochs } = this.#settings
    if (epoch === undefined) return undefined
    const seenAt = epochs.get(epoch) ?? now
    // One node of a cluster has few epochs in the life of a process.
    if (epochs.size >= MOST_EPOCHS) epochs.clear()
    epochs.set(epoch, seenAt)
    return seenAt
  }

  /** Keeps the newest record that this owner has seen: the register may lose it. */
  #see(state: RecordState | undefined): void {
    if (state && !(this.seen && isOlder(state, this.seen))) this.seen = state
  }

  #report({ state, flaw, epoch }: StoredReading): void {
    const report = (...anomaly: Parameters<StoreReports['anomaly']>) => this.#reports.anomaly(...anomaly)
    if (flaw !== undefined) report('stored-tokens-unusable', `The shared token record counts as absent: ${flaw}`)
    // Reported once: permissions rarely change.
    if (epoch === null && !this.#isEpochUnknown) report('store-epoch-unknown', UNKNOWN_EPOCH)
    this.#isEpochUnknown ||= epoch === null
    if (state && isRestored(state, epoch)) report('store-restored', RESTORED)
  }

  /** @param after The text and the clock of the last reading, with the new state. */
  async #replace(key: string, after: Replacing, how: How<never>, onLate: () => void): Promise<boolean> {
    const { register, steps, keyRing } = this.#settings
    const { state, reading, text: expected } = after
    const text = await textOf(state, key, keyRing)
    const keepMs = Math.min(LONGEST_MS, keptMs(state, reading.now) + DAY_MS)
    const stored = () => {
      this.#see(state)
      if (how.isOfLease !== false) this.known = { ...after, text }
    }
    const late = (replaced: boolean) => {
      if (!replaced) return
      // The response came late, but the register holds the text now.
      stored()
      onLate()
    }
    const replace = () => register.replace(key, expected, text, keepMs, reading.epoch)
    const replaced = await steps.run(replace, { ...this.#limit(how.patience), isUrgent: true, onLate: late })
    if (replaced) stored()
    return replaced
  }

  /** @throws {ForeignRecord | NoReply} if the keys are unusable or still pending: then the record must not be touched. */
  async #keysKnown(patience?: number): Promise<void> {
    const atLimit = () => new NoReply('encryptionKeys: the promise of a key has not settled')
    try {
      await withinLimit(this.#settings.keyRing.ids(), { ...this.#limit(patience), atLimit })
    } catch (thrown) {
      throw thrown instanceof UnusableKeys ? new ForeignRecord(thrown.message) : thrown
    }
  }

  #limit(patience = 1) {
    const usualMs = this.#settings.commandTimeoutMs
    return { clock: this.#clock, ms: usualMs * patience, usualMs, onLate: undefined, isUrgent: false }
  }

  /** @returns `known`, with the clock of the register advanced to now. */
  #carried(known: Known): Known {
    const at = this.#clock.monotonicNow()
    const now = known.reading.now + at - known.at
    return { ...known, reading: { ...known.reading, now, machine: this.#settings.machineNow?.() }, at }
  }
}

/** Whether the store may have lost writes since this record, which has a refresh token to present. */
function isRestored({ tokens, epoch: writtenIn }: RecordState, epoch: string | null | undefined): boolean {
  if (typeof epoch !== 'string' || writtenIn === undefined || epoch === writtenIn) return false
  return tokens?.refreshToken !== undefined && !tokens.retired && tokens.doubtAt === undefined
}

const UNKNOWN_EPOCH =
  'The shared token store is not permitted to report whether it has lost writes: a refresh token of a restored record may be presented again. ' +
  'For Redis, grant the user +info; for PostgreSQL, the functions pg_current_wal_lsn and pg_walfile_name'
const RESTORED =
  'The shared token store has failed over, or was restored from a copy, and may have lost writes. No action is needed: processes with newer tokens write ' +
  'them back, and a login that none of them can continue ends with ERR_LOGIN_REQUIRED'
