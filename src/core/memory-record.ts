import type { Clock } from './clock.ts'
import { doubted, type Fate, fateAfter, presentableIn } from './refresh-fate.ts'
import { TokenClock } from './token-clock.ts'
import {
  type AdoptedTokens,
  aged,
  type LeaseResult,
  type LeaseTerms,
  type CoolDown,
  type Decide,
  type Lease,
  isOfOther,
  type KnownLogin,
  type CheckResult,
  type Missing,
  type NewTokens,
  type Next,
  type ReleaseResult,
  type Report,
  RESERVE_MS,
  type StoredTokens,
  type TokenRecord,
} from './token-store.ts'

interface Pair extends Fate {
  readonly refreshToken: string | undefined
  /** As they were at `at`. */
  readonly tokens: NewTokens
  readonly at: number
  /** Another exchange may have been in flight when the pair came. */
  readonly overlapped: boolean
}

/** The turn of one owner: of its exchange, or of its pause before the next one (`settled`). */
interface Turn {
  readonly owner: string
  readonly fence: number
  readonly at: number
  /** By the monotonic clock: an exchange goes on after its machine has slept. */
  readonly until: number
  readonly settled: boolean
}

/**
 * The tokens of one account, shared by the managers of this process that open its key. A step is atomic because nothing is awaited inside it. No reply is
 * lost or late, no write is undone, and all owners have one clock. So it needs few of the rules by which processes share a record (`src/record`).
 */
export class MemoryRecord implements TokenRecord {
  readonly #clock: Clock
  readonly #tokenClock: TokenClock
  #version = 0
  #login: { readonly login: number; readonly loginId?: string | undefined } = { login: 0 }
  #pair: Pair | undefined
  #turn: Turn | undefined
  #coolDown: CoolDown | undefined
  #coolDownEnd = 0
  #fence = 0
  /** An exchange that `clear` or `adopt` has outdated may still be in flight. */
  #overlaps = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#tokenClock = new TokenClock(clock)
  }

  /** For a record of one owner, who has seen each version. */
  get version(): number {
    return this.#version
  }

  acquire(owner: string, seenVersion: number, ttlMs: number, terms: LeaseTerms = {}): Promise<LeaseResult> {
    const coolDown = this.#cooling
    const newer = this.#newer(seenVersion, terms)
    if (newer) return Promise.resolve(newer)
    if (coolDown && coolDown.ms > 0 && (coolDown.isFirm || !terms.breaksCoolDown))
      return Promise.resolve({ kind: 'cooling', coolDown })
    return Promise.resolve(this.#busy(owner) ?? this.#granted(owner, ttlMs, terms))
  }

  acquireForLogout(owner: string, _seenVersion: number, ttlMs: number, ends: KnownLogin): Promise<LeaseResult> {
    // A logout does not wait for a pause between two exchanges.
    const busy = this.#turn?.settled ? undefined : this.#busy(owner)
    return Promise.resolve(this.#newer(Infinity, ends) ?? busy ?? this.#granted(owner, ttlMs))
  }

  #newer(seenVersion: number, known: KnownLogin): Extract<LeaseResult, { kind: 'newer' }> | undefined {
    const pair = this.#pair
    if (!pair || (this.#version <= seenVersion && !isOfOther(this.#login, known))) return undefined
    return { kind: 'newer', tokens: this.#tokensOf(pair) }
  }

  #busy(owner: string): LeaseResult | undefined {
    if (!this.#turn || this.#turn.owner === owner) return undefined
    const remainingMs = this.#turn.until - this.#clock.monotonicNow()
    return remainingMs > 0 ? { kind: 'busy', remainingMs } : undefined
  }

  /** @param terms Undefined: the claim is for a logout, and presents nothing. */
  #granted(owner: string, ttlMs: number, terms?: LeaseTerms): Lease {
    const turn = this.#turn
    const now = this.#tokenClock.now()
    // It was never settled, so its owner may have presented the refresh token.
    if (turn?.settled === false) {
      this.#overlaps = true
      this.#pair &&= doubted(this.#pair, turn.at)
    }
    const pair = this.#pair
    const fence = (this.#fence += 1)
    const until = this.#clock.monotonicNow() + ttlMs
    // 0 means an unknown time.
    this.#turn = { owner, fence, at: now || Number.MIN_VALUE, until, settled: terms === undefined }
    return {
      kind: 'granted',
      fence,
      version: this.#version,
      login: this.#login.login,
      presentations: pair?.presentations ?? 0,
      failures: this.#coolDown?.failures ?? 0,
      overlapped: pair?.overlapped ?? false,
      ...presentableIn(pair, terms, now),
      ...(pair ? { tokens: this.#tokensOf(pair) } : { missing: this.#missing }),
    }
  }

  accept({ fence, version }: Lease, tokens: NewTokens): Promise<StoredTokens> {
    if (this.#turn?.fence === fence) return Promise.resolve(this.#settled(tokens))
    // At some services each of two exchanges that overlapped ends the session of the other.
    this.#overlaps ||= this.#turn?.settled === false
    this.#pair &&= { ...this.#pair, overlapped: true }
    return Promise.resolve(this.#pair ? this.#tokensOf(this.#pair) : { ...tokens, version })
  }

  /** Stores the tokens that a claim, or a login, has brought. */
  #settled({ loginId = this.#login.loginId, ...tokens }: NewTokens): StoredTokens {
    const at = this.#tokenClock.now()
    const { refreshToken } = tokens
    this.#version += 1
    this.#login = { ...this.#login, loginId }
    this.#pair = { refreshToken, tokens, at, overlapped: this.#overlaps, retired: false, presentations: 0 }
    this.#overlaps = false
    this.#turn = this.#coolDown = undefined
    return this.#tokensOf(this.#pair)
  }

  release({ fence, version }: Lease, told: Report | Decide): Promise<ReleaseResult> {
    const pair = this.#pair
    const turn = this.#turn?.fence === fence ? this.#turn : undefined
    const newer = pair && this.#version > version ? this.#tokensOf(pair) : undefined
    const answer = { contested: !turn || pair?.overlapped === true, ...(newer && { newer }) }
    const report = typeof told === 'function' ? told(answer) : told
    if (!turn) return Promise.resolve(answer)
    if (pair) this.#pair = report.drops ? undefined : fateAfter(pair, turn, report, this.#tokenClock.now())
    this.#follow(turn, report.shared)
    return Promise.resolve(answer)
  }

  #follow(turn: Turn, next: Next | undefined): void {
    this.#turn = undefined
    if (next?.kind === 'retry') {
      const until = this.#clock.monotonicNow() + next.ms + RESERVE_MS
      this.#turn = { ...turn, until, settled: true }
    } else if (next) {
      this.#coolDown = next
      this.#coolDownEnd = this.#tokenClock.now() + next.ms
    }
  }

  /** What is stored now. */
  protected get stored(): StoredTokens | undefined {
    return this.#pair && this.#tokensOf(this.#pair)
  }

  /** The stored refresh token stays as it is, and has brought another access token. */
  protected renewed(tokens: NewTokens): StoredTokens | undefined {
    const { accessToken, accessLifetimeMs, accessRemainingMs } = tokens
    const { stored } = this
    if (!stored || !this.#pair) return stored
    const { version: _, login: __, ...kept } = stored
    this.#version += 1
    const at = this.#tokenClock.now()
    this.#pair = { ...this.#pair, at, tokens: { ...kept, accessToken, accessLifetimeMs, accessRemainingMs } }
    return this.stored
  }

  adopt(_seenVersion: number, tokens: NewTokens): Promise<AdoptedTokens> {
    const { subject } = tokens
    const isSame = subject !== undefined && subject === this.#pair?.tokens.subject
    const before = this.#login
    this.#clear()
    if (isSame) this.#login = { login: before.login }
    return Promise.resolve(this.#settled(tokens))
  }

  clear(_seenVersion: number, ends: KnownLogin = {}): Promise<StoredTokens | undefined> {
    if (this.#pair && isOfOther(this.#login, ends)) return Promise.resolve(this.#tokensOf(this.#pair))
    this.#clear()
    this.#version += 1
    return Promise.resolve(undefined)
  }

  #clear(): void {
    this.#overlaps ||= this.#turn?.settled === false
    this.#login = { login: this.#login.login + 1 }
    this.#pair = this.#turn = this.#coolDown = undefined
  }

  check(seenVersion: number, login?: number): Promise<CheckResult | undefined> {
    const newer = this.#newer(seenVersion, { login })
    const coolDown = this.#cooling
    if (newer) return Promise.resolve(newer)
    if (coolDown?.code === 'ERR_LOGIN_REQUIRED') return Promise.resolve({ kind: 'cooling', coolDown })
    return Promise.resolve(this.#pair ? undefined : { kind: 'missing', missing: this.#missing })
  }

  get #missing(): Missing {
    return this.#login.login > 0 ? 'logged-out' : 'none-yet'
  }

  /** The last cool-down, with what is left of it. */
  get #cooling(): CoolDown | undefined {
    return this.#coolDown && { ...this.#coolDown, ms: this.#coolDownEnd - this.#tokenClock.now() }
  }

  #tokensOf({ tokens, at }: Pair): StoredTokens {
    const { login, loginId } = this.#login
    const numbered = { ...tokens, version: this.#version, ...(login > 0 && { login }) }
    const stored = loginId === undefined ? numbered : { ...numbered, loginId }
    return aged(stored, this.#tokenClock.now() - at)
  }
}
