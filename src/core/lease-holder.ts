import type { Account } from './account.ts'
import type { Clock } from './clock.ts'
import type { TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'
import { credentialsDigestOf } from './exchange.ts'
import { HeldToken } from './held-token.ts'
import { CallFailed } from './cool-down.ts'
import { coolingError } from './renewal-errors.ts'
import type { LeaseResult, Lease, StoredTokens, TokenRecord } from './token-store.ts'
import type { Work } from './work.ts'

/** The renewal was halted: its result reaches nobody. */
export class Halted extends Error {}

/** Why a renewal is halted. `closed`: the tokens that its exchange brings are stored. `outdated`: they are dropped. */
export type Halt = 'outdated' | 'closed'

/** What the pauses of a renewal, or of a logout, need to know of it. */
interface Paused {
  readonly clock: Clock
  /** A pause is no work. */
  readonly work?: Work
  /** Whether anybody wants the result. */
  readonly isWanted?: () => boolean
  readonly holdsProcess?: boolean
}

/** The pauses of one renewal, or of one logout, one at a time. A halted renewal makes no further pause. */
export class Pauses {
  readonly #paused: Paused
  #halt: Halt | undefined
  #end: (() => void) | undefined
  #canHurry = () => false

  constructor(paused: Paused) {
    this.#paused = paused
  }

  /** A method, because TypeScript assumes that a field does not change during an await. */
  halted(): Halt | undefined {
    return this.#halt
  }

  /** @throws {Halted} if the renewal is halted. */
  check(): void {
    if (this.#halt) throw new Halted()
  }

  halt(why: Halt): void {
    this.#halt = why
    this.end()
  }

  /** @param canHurry Whether `hurry()` ends the pause. @throws {Halted} at the end, if the renewal is halted, or nobody wants its result any more. */
  async for(ms: number, canHurry = () => false): Promise<void> {
    const { clock, work, isWanted, holdsProcess } = this.#paused
    if (ms > 0 && !this.#halt) {
      this.#canHurry = canHurry
      work?.end()
      await new Promise<void>((resolve) => {
        const cancel = clock.setTimer(resolve, ms, holdsProcess)
        this.#end = () => {
          cancel()
          resolve()
        }
      })
      work?.begin()
    }
    this.check()
    if (isWanted?.() === false) throw new Halted()
  }

  hurry(): void {
    if (this.#canHurry()) this.end()
  }

  end(): void {
    this.#end?.()
  }

  /** Waits while another owner makes an exchange: for `ms`, but no longer than until the store tells of a change. @throws {Halted} as `for`. */
  async forOther(record: TokenRecord, ms: number, canHurry?: () => boolean): Promise<void> {
    const unwatch = record.watch?.(() => this.end())
    await this.for(ms, canHurry).finally(unwatch)
  }
}

/** Who never looks by itself is not waited for any longer, ms. */
const LONGEST_STALENESS_MS = 30_000

/** How long an owner waits before it asks again whether another one has ended its exchange, ms. */
export const POLL_MS = 250

/** What one renewal starts from, and how its machine can be reached while it runs. */
export interface RenewalStart {
  /** `forced`: it runs in spite of a cool-down that is not firm, and takes no tokens of another owner. */
  readonly because: RenewalCause
  /** Whether its token requests keep the process alive. */
  readonly holdsProcess: boolean
  /** Renewals in a row that gave up before this one. */
  readonly failuresBefore: number
  /** Whether a caller waits for the new token. */
  readonly isAwaited: () => boolean
  /** The first call has failed, and its repeat comes after a pause. */
  readonly onRepeat: () => void
  /** A pause that the service asked for begins. */
  readonly onPause: (pauseMs: number, error: TokenError) => void
}

/** What ends the claims of a renewal: the right to make the exchange, or tokens of another owner that will do. */
export type LeaseOutcome = Lease | Extract<LeaseResult, { kind: 'newer' }>

/** Waits until the store grants the exchange of one renewal to this owner. */
export class LeaseHolder {
  readonly #account: Account
  readonly #start: RenewalStart
  readonly #pauses: Pauses
  #seenVersion = 0
  /** Renewals in a row that gave up before this one, as far as is known. */
  failuresBefore: number
  /** On the token clock: remaining lifetimes of the claim count from here. */
  #leasedAt = 0

  constructor(account: Account, start: RenewalStart, pauses: Pauses) {
    this.#account = account
    this.#start = start
    this.#pauses = pauses
    this.failuresBefore = start.failuresBefore
  }

  /** How long ago the last claim was answered, ms. */
  get sinceLeaseMs(): number {
    return this.#account.settings.tokenClock.now() - this.#leasedAt
  }

  /** Claims until the store grants the exchange to this owner, or holds tokens of another owner that will do. */
  async acquire(): Promise<LeaseOutcome> {
    const account = this.#account
    const { login, settings } = account
    const { record, owner, tokenClock, exchangeTimeoutMs, graceMs, needsLogin, renewal, source, store } = settings
    const maxStalenessMs = Math.min(renewal.maxStalenessMs, LONGEST_STALENESS_MS)
    if (store) account.credentialsDigest ??= await credentialsDigestOf(source)
    const breaksCoolDown = this.#start.because === 'forced'
    // Longer than the exchange that the claim covers: only the claim of a stalled owner expires.
    let ttlMs = exchangeTimeoutMs + Math.min(5_000, exchangeTimeoutMs / 2)
    for (let polls = 0; ;) {
      const askedAt = tokenClock.now()
      // A login may have been stored since this renewal began.
      const seenVersion = Math.max(this.#seenVersion, account.seenVersion)
      const terms = {
        graceMs,
        needsLogin,
        maxStalenessMs,
        credentialsDigest: account.credentialsDigest,
        login: login.number,
        breaksCoolDown,
      }
      account.awaited = () => 'the token store, for commandTimeoutMs of the store at most'
      const lease = await record.acquire(owner, seenVersion, ttlMs, terms)
      account.awaited = lease.kind === 'busy' ? () => 'the token call of another owner of this account' : undefined
      this.#leasedAt = tokenClock.now()
      if (lease.kind === 'granted') {
        this.failuresBefore = Math.max(this.failuresBefore, lease.failures)
        const tookMs = this.#leasedAt - askedAt
        // A process that stalled for that long has lost its claim: another owner may make the exchange by now. Nobody else sees a private one.
        if (lease.isPrivate || tookMs < ttlMs || this.#pauses.halted()) return lease
        // This claim presented nothing. If it expired unsettled, the refresh token would be in doubt.
        await record.release(lease, { fate: 'keep' }).catch(() => undefined)
        // Otherwise a store that always answers so late would never grant a claim in time.
        ttlMs *= 2
      } else if (lease.kind === 'cooling') {
        throw new CallFailed(coolingError(lease.coolDown, account), lease.coolDown)
      } else if (lease.kind === 'newer') {
        this.#seenVersion = lease.tokens.version
        // Whoever began this renewal must not present the refresh token of somebody else.
        if (this.adopts(lease.tokens) || login.isOther(lease.tokens)) return lease
        this.#pauses.check()
        login.skipped(lease.tokens)
      } else if (await this.#leaveToOther(lease.remainingMs, polls)) polls += 1
    }
  }

  /** Whether tokens of another owner will do. @param isLast The renewal cannot make the call that a caller asked for. */
  adopts(tokens: StoredTokens, isLast = false): boolean {
    const { because } = this.#start
    const { current, settings } = this.#account
    // The store may hold the very token that the API refuses: a step of this owner had no answer, and was executed.
    const isRejected = because === 'refused' && current?.stored.accessToken === tokens.accessToken
    return (because !== 'forced' || isLast) && !isRejected && new HeldToken(tokens, settings, 0).freshness !== 'expired'
  }

  /** How long requests may still use the old token without a wait, ms; 0 or less: they must wait. */
  get usableMs(): number {
    return this.#account.current?.usableMs ?? 0
  }

  /** Waits while another owner makes the exchange. @returns whether this was a poll */
  async #leaveToOther(busyMs: number, polls: number): Promise<boolean> {
    // While the manager's own token serves, the manager need not ask for the result.
    const usableMs = this.#start.isAwaited() ? 0 : this.usableMs
    const { record, random } = this.#account.settings
    const pollMs = Math.min(1_000, POLL_MS * 2 ** polls) * (1 - random() / 2)
    await this.#pauses.forOther(record, Math.min(busyMs, usableMs > 0 ? usableMs : pollMs), () => usableMs > 0)
    return usableMs <= 0
  }
}
