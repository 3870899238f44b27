import type { Clock } from '../core/clock.ts'
import { digestOf } from '../core/digest.ts'
import type { Change, Reading, RecordState } from '../core/record-shape.ts'
import { accept, adopt, claim, clear, isOvertaken, keptMs, look, overlap, release } from '../core/record-state.ts'
import { TokenClock } from '../core/token-clock.ts'
import type {
  ClaimAnswer,
  ClaimTerms,
  GrantedClaim,
  Looked,
  NewTokens,
  RefreshTokenFate,
  ReleaseAnswer,
  StoredTokens,
  StoreReports,
  TokenRecord,
  Word,
} from '../core/token-store.ts'
import { NoAnswer } from './reason.ts'
import { storedIn, textOf } from './record-text.ts'
import type { KeyRing } from './sealed-box.ts'
import type { Steps } from './steps.ts'
import type { TokenRegister } from './token-register.ts'

export interface SharedSettings {
  readonly register: TokenRegister
  readonly prefix: string
  readonly keyRing: KeyRing
  readonly commandTimeoutMs: number
  readonly steps: { readonly read: Steps; readonly replace: Steps }
}

/** What the register held when it was last read or written. */
interface Known {
  readonly text: string | undefined
  readonly state: RecordState | undefined
  readonly reading: Reading
  /** When that was, by the monotonic clock of this process. */
  readonly at: number
}

type Step<Answer> = (state: RecordState | undefined, reading: Reading) => Change<Answer>

/** Each failed attempt means that another owner's succeeded. */
const MAX_ATTEMPTS = 16
const DAY_MS = 24 * 60 * 60 * 1_000
/** A hundred years. Databases refuse longer times, and the end of a stop is Infinity. */
const LONGEST_MS = 36_525 * DAY_MS

/**
 * The record of one account in a register. Each step reads the text, applies the rules of `record-state.ts`, and replaces the text; if another
 * owner was faster, the step starts again. It rejects if the register does not answer in time. A `replace` that is executed twice changes nothing more.
 */
export class SharedRecord implements TokenRecord {
  readonly #settings: SharedSettings
  readonly #clock: Clock
  /** For lifetimes, which go on while this machine sleeps. */
  readonly #tokenClock: TokenClock
  readonly #reports: StoreReports
  readonly #key: Promise<string>
  /** What the last step of this owner, `overlap` excepted, has written. The owner settles a claim from it, without reading again. */
  #known: Known | undefined
  #isEpochUnknown = false
  /** The last adoption, whether or not it was executed, and the fence up to which it clears: that stays in the record until the next one. */
  #adopted: { readonly accessToken: string; readonly clearedFence: number | undefined } | undefined

  constructor(settings: SharedSettings, key: string, clock: Clock, reports: StoreReports) {
    this.#settings = settings
    this.#clock = clock
    this.#tokenClock = new TokenClock(clock)
    this.#reports = reports
    // Hashed, because the key contains a login. The braces are the hash tag of a Redis Cluster.
    this.#key = digestOf('SHA-256', key).then((digest) => `{${settings.prefix}:${digest.slice(0, 32)}}`)
  }

  async claim(owner: string, seenVersion: number, ttlMs: number, terms?: ClaimTerms): Promise<ClaimAnswer> {
    const sentAt = this.#tokenClock.now()
    // An owner without a token can wait longer: nobody is served meanwhile.
    const patience = seenVersion === 0 ? 4 : 1
    const step: Step<ClaimAnswer> = (state, reading) => claim(state, { ...terms, owner, seenVersion, ttlMs }, reading)
    // The grant came too late for this owner. Unless it is released, it makes all others wait until it expires.
    const giveBack = (answer: ClaimAnswer) => {
      if (answer.kind === 'granted') this.release(answer, 'keep').catch(() => undefined)
    }
    const answer = await this.#change(step, { patience, onLate: giveBack })
    if (!('tokens' in answer)) return answer
    return { ...answer, tokens: aged(answer.tokens, this.#tokenClock.now() - sentAt) }
  }

  async accept(granted: GrantedClaim, tokens: NewTokens): Promise<StoredTokens> {
    const givenAt = this.#tokenClock.now()
    let steppedAt = givenAt
    const step: Step<StoredTokens | undefined> = (state, reading) => {
      steppedAt = this.#tokenClock.now()
      return accept(state, granted, aged(tokens, steppedAt - givenAt), reading)
    }
    const stored = await this.#change(step, { from: this.#known })
    const now = this.#tokenClock.now()
    // The tokens of another owner were read before the step, at the earliest when these were given.
    const readAt = stored?.accessToken === tokens.accessToken ? steppedAt : givenAt
    // After a `clear` the record may have no tokens. Then only this owner has these.
    return stored ? aged(stored, now - readAt) : { ...aged(tokens, now - givenAt), version: granted.version }
  }

  async release(granted: GrantedClaim, fate: RefreshTokenFate, next?: Word): Promise<ReleaseAnswer> {
    const sentAt = this.#tokenClock.now()
    const step: Step<ReleaseAnswer> = (state, reading) => release(state, granted, fate, next, reading)
    const { newer, ...answer } = await this.#change(step, { from: this.#known })
    return newer ? { ...answer, newer: aged(newer, this.#tokenClock.now() - sentAt) } : answer
  }

  /** @param sinceMs How long ago the login was, if this repeats a step whose answer is missing. A logout or a login that came later stays. */
  async adopt(seenVersion: number, tokens: NewTokens, sinceMs?: number): Promise<StoredTokens> {
    const sentAt = this.#tokenClock.now()
    const { accessToken } = tokens
    const earlier = this.#adopted?.accessToken === accessToken ? this.#adopted.clearedFence : undefined
    const step: Step<StoredTokens | undefined> = (state, reading) => {
      if (sinceMs !== undefined && isOvertaken(state, earlier, reading.now - sinceMs)) return { answer: undefined }
      const change = adopt(state, seenVersion, aged(tokens, this.#tokenClock.now() - sentAt), reading)
      this.#adopted = { accessToken, clearedFence: change.state?.clearedFence }
      return change
    }
    return (await this.#change(step)) ?? { ...tokens, version: seenVersion }
  }

  clear(seenVersion: number): Promise<void> {
    return this.#change((state, reading) => clear(state, seenVersion, reading))
  }

  look(seenVersion: number): Promise<Looked | undefined> {
    return this.#change((state, reading) => look(state, seenVersion, reading))
  }

  /** Notes in the record that this owner makes an exchange without it. */
  overlap(): Promise<void> {
    return this.#change((state, reading) => overlap(state, reading), { isOfClaim: false })
  }

  /** @param options.isOfClaim False for `overlap`, which runs beside the claims of this owner: its text must not become `#known`. */
  async #change<Answer>(
    step: Step<Answer>,
    {
      from,
      patience = 1,
      isOfClaim = true,
      onLate = () => undefined,
    }: { from?: Known | undefined; patience?: number; isOfClaim?: boolean; onLate?: (answer: Answer) => void } = {},
  ): Promise<Answer> {
    let known = from && this.#carried(from)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      known ??= await this.#read(patience)
      const { state, answer } = step(known.state, known.reading)
      if (!state) return answer
      const written = { ...known, state, text: await textOf(state, await this.#key, this.#settings.keyRing) }
      const replaced = await this.#replace(known, written, patience, () => {
        // The answer came late, but the register holds the text now.
        if (isOfClaim) this.#known = written
        onLate(answer)
      })
      if (replaced) {
        if (isOfClaim) this.#known = written
        return answer
      }
      known = undefined
    }
    throw new NoAnswer(`the record changed ${MAX_ATTEMPTS} times in a row`)
  }

  async #read(patience: number): Promise<Known> {
    const { register, keyRing, steps } = this.#settings
    const key = await this.#key
    const { value, now, epoch } = await steps.read.run(() => register.read(key), this.#limit(patience))
    // To the rules, an epoch that nobody may know is none.
    const reading = { now, epoch: epoch ?? undefined }
    if (epoch === null) this.#reportUnknownEpoch()
    const at = this.#clock.monotonicNow()
    if (value === undefined) return { text: value, state: undefined, reading, at }
    const { state, flaw } = await storedIn(value, key, keyRing)
    if (flaw !== undefined)
      this.#reports.anomaly('stored-tokens-unusable', `The shared token record counts as absent: ${flaw}`)
    this.#reportRestored(state, reading.epoch)
    return { text: value, state, reading, at }
  }

  /** Once: it does not change from one minute to the next. */
  #reportUnknownEpoch(): void {
    const message =
      'The shared token store may not say whether it has lost writes: a refresh token of a restored record may be presented again. ' +
      'For Redis, grant the user +info; for PostgreSQL, the functions pg_current_wal_lsn and pg_walfile_name'
    if (!this.#isEpochUnknown) this.#reports.anomaly('store-epoch-unknown', message)
    this.#isEpochUnknown = true
  }

  #reportRestored(state: RecordState | undefined, epoch: string | undefined): void {
    const { pair, epoch: writtenIn } = state ?? {}
    const isOther = epoch !== undefined && writtenIn !== undefined && epoch !== writtenIn
    if (!isOther || pair?.refreshToken === undefined || pair.retired || pair.doubtAt !== undefined) return
    const message = 'The shared token store may have lost writes: the refresh token that it holds may have been used'
    this.#reports.anomaly('store-restored', message)
  }

  async #replace(before: Known, after: Known, patience: number, onLate: () => void): Promise<boolean> {
    const { register, steps } = this.#settings
    const { state, reading, text = '' } = after
    const keepMs = Math.min(LONGEST_MS, state ? keptMs(state, reading.now) + DAY_MS : DAY_MS)
    const key = await this.#key
    const replace = () => register.replace(key, before.text, text, keepMs, reading.epoch)
    return steps.replace.run(replace, { ...this.#limit(patience), onLate: (replaced) => replaced && onLate() })
  }

  #limit(patience: number) {
    return { clock: this.#clock, ms: this.#settings.commandTimeoutMs * patience }
  }

  /** @returns `known`, with the clock of the register carried forward to now. */
  #carried(known: Known): Known {
    const at = this.#clock.monotonicNow()
    const { now, epoch } = known.reading
    return { ...known, reading: { now: now + at - known.at, epoch }, at }
  }
}

/** @returns The tokens, with remaining lifetimes that are shorter by `byMs`. */
export function aged<Tokens extends NewTokens>(tokens: Tokens, byMs: number): Tokens {
  const { accessRemainingMs, refreshRemainingMs } = tokens
  const older = { ...tokens, accessRemainingMs: accessRemainingMs - byMs }
  return refreshRemainingMs === undefined ? older : { ...older, refreshRemainingMs: refreshRemainingMs - byMs }
}
