import type { Clock } from './clock.ts'
import { TokenClock } from './token-clock.ts'
import type {
  ClaimAnswer,
  CoolDown,
  GrantedClaim,
  OpenableStore,
  RefreshTokenFate,
  ReleaseAnswer,
  StoredTokens,
  TokenRecord,
  TokenStore,
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

class MemoryRecord implements TokenRecord {
  readonly #clock: TokenClock
  #version = 0
  #pair: Pair | undefined
  /** The refresh token must not be presented any more. */
  #retired = false
  #presentations = 0
  #fence = 0
  #claim: { owner: string; fence: number; end: number } | undefined
  #coolDown: (CoolDown & { end: number }) | undefined

  constructor(clock: Clock) {
    this.#clock = new TokenClock(clock)
  }

  // The steps are atomic because nothing is awaited inside them.
  claim(owner: string, seenVersion: number, ttlMs: number): Promise<ClaimAnswer> {
    return Promise.resolve(this.#claimNow(owner, seenVersion, ttlMs))
  }

  accept(claim: GrantedClaim, tokens: Omit<StoredTokens, 'version'>): Promise<StoredTokens> {
    const now = this.#clock.now()
    this.#unclaim(claim)
    // A pair that we were given is stored even by an owner that came late, unless a newer one stands there.
    if (!this.#pair || this.#version === claim.tokens?.version) this.#pair = this.#next(tokens, now)
    return Promise.resolve(this.#stored(this.#pair, now))
  }

  release(claim: GrantedClaim, fate: RefreshTokenFate, coolDown?: CoolDown): Promise<ReleaseAnswer> {
    const now = this.#clock.now()
    const contested = this.#fence !== claim.fence
    if (this.#unclaim(claim)) {
      if (fate === 'counted') this.#presentations += 1
      if (fate === 'doubtful' || fate === 'dead') this.#retired = true
      if (coolDown) this.#coolDown = { ...coolDown, end: now + coolDown.ms }
    }
    const isNewer = this.#version > (claim.tokens?.version ?? 0)
    return Promise.resolve({ contested, ...(this.#pair && isNewer && { newer: this.#stored(this.#pair, now) }) })
  }

  clear(): Promise<void> {
    this.#pair = this.#claim = this.#coolDown = undefined
    this.#retired = false
    this.#presentations = 0
    return Promise.resolve()
  }

  #claimNow(owner: string, seenVersion: number, ttlMs: number): ClaimAnswer {
    const now = this.#clock.now()
    const tokens = this.#pair && this.#stored(this.#pair, now)
    if (tokens && this.#version > seenVersion) return { kind: 'newer', tokens }
    if (this.#coolDown && this.#coolDown.end > now)
      return { kind: 'cooling', remainingMs: this.#coolDown.end - now, code: this.#coolDown.code }
    if (this.#claim && this.#claim.owner !== owner) {
      if (this.#claim.end > now) return { kind: 'busy', remainingMs: this.#claim.end - now }
      // Its owner stalled, and may have presented the refresh token.
      this.#retired = true
    }
    this.#claim = { owner, fence: ++this.#fence, end: now + ttlMs }
    return {
      kind: 'granted',
      fence: this.#fence,
      presentable: tokens?.refreshToken !== undefined && !this.#retired,
      presentations: this.#presentations,
      ...(tokens && { tokens }),
    }
  }

  /** @returns Whether the claim was still this one. */
  #unclaim(claim: GrantedClaim): boolean {
    if (this.#claim?.fence !== claim.fence) return false
    this.#claim = undefined
    return true
  }

  #next({ accessRemainingMs, refreshRemainingMs, ...rest }: Omit<StoredTokens, 'version'>, now: number): Pair {
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
