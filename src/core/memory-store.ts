import type { Clock } from './clock.ts'
import { TokenClock } from './token-clock.ts'
import {
  type ClaimAnswer,
  type CoolDown,
  type GrantedClaim,
  type NewTokens,
  type OpenableStore,
  type RefreshTokenFate,
  type ReleaseAnswer,
  RESERVE_MS,
  type Retry,
  type StoredTokens,
  type TokenRecord,
  type TokenStore,
} from './token-store.ts'

/** Tokens in this process only. Managers that are given the same one, and the same key, share their tokens. */
export function memoryStore(): TokenStore {
  const records = new Map<string, TokenRecord>()
  const store: OpenableStore = {
    kind: 'memory',
    open(key, clock) {
      const record = records.get(key) ?? new MemoryRecord(clock)
      records.set(key, record)
      return record
    },
  }
  return Object.freeze(store)
}

/** What is stored: instants of the record's own clock instead of remaining lifetimes. */
interface Pair {
  readonly accessToken: string
  readonly accessLifetimeMs: number
  readonly accessEnd: number
  readonly refreshToken?: string
  readonly refreshEnd?: number
}

export class MemoryRecord implements TokenRecord {
  readonly #clock: TokenClock
  #version = 0
  #pair: Pair | undefined
  /** The refresh token must not be presented any more. */
  #retired = false
  #presentations = 0
  #fence = 0
  #claim: { owner: string; fence: number; end: number; settled: boolean } | undefined
  #coolDown: CoolDown | undefined
  #coolEnd = 0

  constructor(clock: Clock) {
    this.#clock = new TokenClock(clock)
  }

  // The steps are atomic because nothing is awaited inside them.
  claim(owner: string, seenVersion: number, ttlMs: number): Promise<ClaimAnswer> {
    return Promise.resolve(this.#claimNow(owner, seenVersion, ttlMs))
  }

  accept(claim: GrantedClaim, tokens: NewTokens): Promise<StoredTokens> {
    const now = this.#clock.now()
    if (this.#claim?.fence === claim.fence) this.#claim = undefined
    // A pair that we were given is stored even by an owner that came late, unless a newer one came, or `clear`, since.
    if (this.#version <= claim.version) this.#pair = this.#next(tokens, now)
    return Promise.resolve(this.#pair ? this.#stored(this.#pair, now) : { ...tokens, version: claim.version })
  }

  release(claim: GrantedClaim, fate: RefreshTokenFate, next?: Retry | CoolDown): Promise<ReleaseAnswer> {
    const now = this.#clock.now()
    const contested = this.#fence !== claim.fence
    if (this.#claim?.fence === claim.fence) {
      if (fate === 'counted' && !this.#claim.settled) this.#presentations += 1
      if (fate === 'doubtful' || fate === 'dead') this.#retired = true
      const end = now + (next?.ms ?? 0) + RESERVE_MS
      this.#claim = next?.kind === 'retry' ? { ...this.#claim, end, settled: true } : undefined
      if (next?.kind === 'cool-down') {
        this.#coolDown = next
        this.#coolEnd = now + next.ms
        if (next.ms === Infinity) this.#pair = undefined
      }
    }
    const isNewer = this.#version > claim.version
    return Promise.resolve({ contested, ...(this.#pair && isNewer && { newer: this.#stored(this.#pair, now) }) })
  }

  clear(seenVersion: number): Promise<void> {
    this.#version = Math.max(this.#version, seenVersion) + 1
    this.#pair = this.#claim = this.#coolDown = undefined
    this.#retired = false
    this.#presentations = 0
    return Promise.resolve()
  }

  #claimNow(owner: string, seenVersion: number, ttlMs: number): ClaimAnswer {
    const now = this.#clock.now()
    if (this.#pair && this.#version > seenVersion) return { kind: 'newer', tokens: this.#stored(this.#pair, now) }
    if (this.#coolDown && this.#coolEnd > now)
      return { kind: 'cooling', remainingMs: this.#coolEnd - now, coolDown: this.#coolDown }
    if (this.#claim) {
      const { end, settled } = this.#claim
      if (end > now && this.#claim.owner !== owner) return { kind: 'busy', remainingMs: end - now }
      // Its owner stalled, or could not say how it ended: the refresh token may have been presented.
      if (!settled) this.#retired = true
    }
    // An older pair than this owner has seen is a store restored from a copy: what it holds has been spent.
    if (this.#version < seenVersion) this.#pair = undefined
    this.#version = Math.max(this.#version, seenVersion)
    const tokens = this.#pair && this.#stored(this.#pair, now)
    this.#claim = { owner, fence: ++this.#fence, end: now + ttlMs, settled: false }
    return {
      kind: 'granted',
      fence: this.#fence,
      version: this.#version,
      presentable: tokens?.refreshToken !== undefined && !this.#retired,
      presentations: this.#presentations,
      failures: this.#coolDown?.failures ?? 0,
      ...(tokens && { tokens }),
    }
  }

  #next({ accessRemainingMs, refreshRemainingMs, ...rest }: NewTokens, now: number): Pair {
    this.#version += 1
    this.#retired = false
    this.#presentations = 0
    this.#coolDown = undefined
    const accessEnd = now + accessRemainingMs
    return refreshRemainingMs === undefined
      ? { ...rest, accessEnd }
      : { ...rest, accessEnd, refreshEnd: now + refreshRemainingMs }
  }

  #stored({ accessEnd, refreshEnd, ...rest }: Pair, now: number): StoredTokens {
    const tokens = { ...rest, version: this.#version, accessRemainingMs: accessEnd - now }
    return refreshEnd === undefined ? tokens : { ...tokens, refreshRemainingMs: refreshEnd - now }
  }
}
