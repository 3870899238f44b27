import type { Clock } from '../core/clock.ts'
import { TokenError } from '../core/errors.ts'
import { MemoryRecord } from '../core/memory-store.ts'
import { checkChoice, checkedDuration, checkText, ownOptions } from '../core/option-checks.ts'
import { checkWebCrypto } from '../core/runtime.ts'
import { member } from '../core/thrown.ts'
import { TokenClock } from '../core/token-clock.ts'
import type {
  ClaimAnswer,
  ClaimTerms,
  GrantedClaim,
  Looked,
  NewTokens,
  OpenableStore,
  RefreshTokenFate,
  ReleaseAnswer,
  StoredTokens,
  StoreReports,
  TokenRecord,
  TokenStore,
  Word,
} from '../core/token-store.ts'
import { checkedRegister } from './checked-register.ts'
import { ForeignRecord } from './record-text.ts'
import { reasonIn } from './reason.ts'
import { type EncryptionKey, KeyRing } from './sealed-box.ts'
import { aged, SharedRecord, type SharedSettings } from './shared-record.ts'
import { Steps } from './steps.ts'
import type { TokenRegister } from './token-register.ts'
import { Untold } from './untold.ts'

export interface SharedStoreOptions {
  /** First part of every key. Default `evergreen`. */
  prefix?: string | undefined
  /**
   * AES-256-GCM keys: 32 bytes, or a `CryptoKey`. The first key seals the record; each of them can open it. Without keys the store keeps tokens
   * readable, and reports one anomaly.
   */
  encryptionKeys?: readonly EncryptionKey[] | undefined
  /** Longest wait for one step of the register, ms. Default 250; four times this for the first claim of an owner without a token. */
  commandTimeoutMs?: number | undefined
  /** While the store is down: `private`: each process obtains its own tokens; `fail`: `ERR_STORE_UNAVAILABLE`. Default `private`. */
  onUnavailable?: 'private' | 'fail' | undefined
}

export const SHARED_OPTIONS = [
  'prefix',
  'encryptionKeys',
  'commandTimeoutMs',
  'onUnavailable',
] as const satisfies (keyof SharedStoreOptions)[]

/**
 * Shares the tokens of each account among all owners that use the same register and the same `prefix`. One of them renews, and the others adopt its
 * tokens. A single-use refresh token is presented once, even if the owner that renews dies.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { sharedStore } from 'axios-evergreen/store'
 *
 * const key = Buffer.from(process.env.TOKEN_KEY ?? '', 'base64') // 32 bytes
 * const store = sharedStore(register, { encryptionKeys: [{ id: '2026-11', key }] })
 * const tokens = createTokenManager({ source, store })
 * ```
 * @throws {TypeError | RangeError} naming the option.
 */
export function sharedStore(register: TokenRegister, options: SharedStoreOptions = {}): TokenStore {
  const own = ownOptions('The options of sharedStore', options, SHARED_OPTIONS)
  return storeOn(checkedRegister(register), own, reasonOfRegister)
}

/** The message of an error may hold a secret. Its name does not, and is a hint: `TypeError`. */
function reasonOfRegister(thrown: unknown): string {
  const name = member(thrown, 'name')
  return reasonIn(thrown, {}, () =>
    typeof name === 'string' && /^\w{1,60}$/.test(name) ? `the register threw ${name}` : undefined,
  )
}

/**
 * @param options Own members only.
 * @param reasonOf Says why a step of the register failed, without secrets.
 */
export function storeOn(
  register: TokenRegister,
  { prefix = 'evergreen', encryptionKeys, commandTimeoutMs = 250, onUnavailable = 'private' }: SharedStoreOptions,
  reasonOf: (thrown: unknown) => string,
): TokenStore {
  checkWebCrypto('A shared store', 'do without')
  checkText('prefix', prefix)
  if (/[{}]/.test(prefix)) throw new TypeError(`prefix must not contain braces, got '${prefix}'`)
  checkChoice('onUnavailable', onUnavailable, ['private', 'fail'])
  const settings: StoreSettings = {
    register,
    prefix,
    keyRing: new KeyRing(encryptionKeys),
    commandTimeoutMs: checkedDuration('commandTimeoutMs', commandTimeoutMs, 1),
    steps: { read: new Steps(), replace: new Steps() },
    onUnavailable,
    reasonOf,
  }
  const store: OpenableStore = {
    kind: register.kind,
    open: (key, clock, reports) => new SharedOrPrivateRecord(settings, key, clock, reports),
  }
  return Object.freeze(store)
}

interface StoreSettings extends SharedSettings {
  readonly onUnavailable: NonNullable<SharedStoreOptions['onUnavailable']>
  readonly reasonOf: (thrown: unknown) => string
}

/** Tokens that the store may not have. This process shares them before its next claim: perhaps no exchange can bring them again. */
interface Unshared {
  readonly tokens: NewTokens
  /** On the token clock. */
  readonly at: number
  /** When the person logged in, on the token clock. A private renewal does not change it. */
  readonly loginAt: number
  /** The claim that the tokens settle. Undefined: they were adopted. */
  readonly claim: GrantedClaim | undefined
}

/**
 * The shared record, with a private one for store outages: this process then obtains tokens for itself, and keeps them to itself. Meanwhile it
 * does not present the shared refresh token, because another process may present that token.
 */
class SharedOrPrivateRecord implements TokenRecord {
  readonly #settings: StoreSettings
  readonly #shared: SharedRecord
  readonly #private: MemoryRecord
  readonly #tokenClock: TokenClock
  readonly #reports: StoreReports
  /** Private tokens carry the version that this owner saw last, so that every pair that is shared later counts as newer. */
  #seenVersion = 0
  #privateVersion = 0
  readonly #untold: Untold
  /** The record is foreign (`ForeignRecord`): this process does not note its private exchanges there. */
  #isForeign = false
  /** Resolves when the last `clear` or `adopt` has ended. Later steps must not overtake that one. */
  #last: Promise<unknown> = Promise.resolve()
  #isReadable: boolean
  #unshared: Unshared | undefined

  constructor(settings: StoreSettings, key: string, clock: Clock, reports: StoreReports) {
    this.#settings = settings
    this.#shared = new SharedRecord(settings, key, clock, reports)
    this.#private = new MemoryRecord(clock)
    this.#untold = new Untold(() => this.#shared.overlap(), clock)
    this.#tokenClock = new TokenClock(clock)
    this.#reports = reports
    this.#isReadable = settings.keyRing.ids.includes('')
  }

  async claim(owner: string, seenVersion: number, ttlMs: number, terms?: ClaimTerms): Promise<ClaimAnswer> {
    // Reported once, and not in open(): before the first claim nobody can listen.
    if (this.#isReadable)
      this.#reports.anomaly('stored-tokens-readable', 'Tokens are stored readable: the store has no encryptionKeys')
    this.#isReadable = false
    try {
      await this.#inTurn(() => this.#share(seenVersion))
      const { made, isOwed } = this.#untold
      const answer = await this.#shared.claim(owner, seenVersion, ttlMs, { ...terms, overlaps: isOwed })
      if (answer.kind === 'granted') this.#untold.know(made)
      return answer
    } catch (thrown) {
      const error = this.#unavailable(thrown)
      this.#isForeign = thrown instanceof ForeignRecord
      // A rolling deploy leaves foreign records. It stops nobody who can obtain. A person's login is in the record alone.
      const canObtain = this.#isForeign && terms?.needsLogin !== true
      if (this.#settings.onUnavailable === 'fail' && !canObtain) throw error
    }
    this.#seenVersion = seenVersion
    const answer = await this.#private.claim(owner, this.#privateVersion, ttlMs, terms)
    if (answer.kind !== 'granted') return answer
    if (!this.#isForeign) this.#untold.owe()
    // Every other process may obtain for itself meanwhile. At some services that ends the session of these tokens.
    return {
      ...answer,
      isPrivate: true,
      overlapped: true,
      ...(answer.tokens && { tokens: this.#asSeen(answer.tokens) }),
    }
  }

  async accept(claim: GrantedClaim, tokens: NewTokens): Promise<StoredTokens> {
    if (claim.isPrivate) {
      // Noted again: if others renewed twice while this exchange was in flight, the first note is gone.
      if (!this.#isForeign) this.#untold.owe()
      const stored = await this.#private.accept(claim, tokens)
      this.#privateVersion = stored.version
      if (this.#unshared && !this.#unshared.claim)
        this.#unshared = { ...this.#asOfNow(tokens), loginAt: this.#unshared.loginAt }
      return this.#asSeen(stored)
    }
    const unshared = this.#asOfNow(tokens, claim)
    this.#unshared = unshared
    try {
      const stored = await this.#shared.accept(claim, tokens)
      if (this.#unshared === unshared) this.#unshared = undefined
      return stored
    } catch (thrown) {
      this.#unavailable(thrown)
      // The tokens serve here even if the store has not stored them: an outage fails no request while there is a token.
      return { ...this.#agedSince(unshared), version: claim.version }
    }
  }

  async release(claim: GrantedClaim, fate: RefreshTokenFate, next?: Word): Promise<ReleaseAnswer> {
    if (claim.isPrivate) return this.#private.release(claim, fate, next)
    try {
      return await this.#shared.release(claim, fate, next)
    } catch (thrown) {
      throw this.#unavailable(thrown)
    }
  }

  async adopt(seenVersion: number, tokens: NewTokens): Promise<StoredTokens> {
    const unshared = this.#asOfNow(tokens)
    this.#unshared = unshared
    void this.#private.clear(this.#privateVersion)
    try {
      const stored = await this.#inTurn(() => this.#shared.adopt(seenVersion, this.#agedSince(unshared)))
      if (this.#unshared === unshared) this.#unshared = undefined
      return stored
    } catch (thrown) {
      const error = this.#unavailable(thrown)
      if (this.#settings.onUnavailable === 'fail') throw error
      // If they differ, there was another login, or a logout, since.
      if (this.#unshared === unshared)
        this.#privateVersion = (await this.#private.adopt(this.#privateVersion, this.#agedSince(unshared))).version
      return { ...this.#agedSince(unshared), version: seenVersion }
    }
  }

  async clear(seenVersion: number): Promise<void> {
    this.#unshared = undefined
    void this.#private.clear(this.#privateVersion)
    try {
      await this.#inTurn(() => this.#shared.clear(seenVersion))
    } catch (thrown) {
      throw this.#unavailable(thrown)
    }
  }

  /** Runs a step after the last one of its kind has ended. Claims wait for this step from now on. */
  #inTurn<Value>(step: () => Promise<Value>): Promise<Value> {
    const ended = this.#last.then(step)
    this.#last = ended.catch(() => undefined)
    return ended
  }

  /** Repeats the step whose answer is missing. If the store had executed it, or something later, nothing changes. */
  async #share(seenVersion: number): Promise<void> {
    const unshared = this.#unshared
    if (!unshared) return
    const tokens = this.#agedSince(unshared)
    if (unshared.claim) await this.#shared.accept(unshared.claim, tokens)
    else await this.#shared.adopt(seenVersion, tokens, this.#tokenClock.now() - unshared.loginAt)
    if (this.#unshared !== unshared) return
    this.#unshared = undefined
    // The private record has the tokens of a login, too. From now on other owners may present their refresh token.
    if (!unshared.claim) await this.#private.clear(this.#privateVersion)
  }

  #asOfNow(tokens: NewTokens, claim?: GrantedClaim): Unshared {
    const at = this.#tokenClock.now()
    return { tokens, claim, at, loginAt: at }
  }

  #agedSince({ tokens, at }: Unshared): NewTokens {
    return aged(tokens, this.#tokenClock.now() - at)
  }

  close(): void {
    this.#untold.close()
  }

  look(seenVersion: number): Promise<Looked | undefined> {
    return this.#shared.look(seenVersion)
  }

  watch(onChange: () => void): () => void {
    return this.#settings.register.watch?.(onChange) ?? (() => undefined)
  }

  #unavailable(thrown: unknown): TokenError {
    if (thrown instanceof ForeignRecord) {
      const unusable = `The shared token record cannot be used: ${thrown.message}`
      this.#reports.anomaly('stored-tokens-unusable', unusable)
      return new TokenError('ERR_STORE_UNAVAILABLE', unusable)
    }
    const message = `The shared token store is unavailable (${this.#settings.reasonOf(thrown)})`
    this.#reports.storeUnavailable(message)
    return new TokenError('ERR_STORE_UNAVAILABLE', message)
  }

  #asSeen({ login: _, ...tokens }: StoredTokens): StoredTokens {
    return { ...tokens, version: this.#seenVersion }
  }
}
