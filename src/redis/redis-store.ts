import type { Clock } from '../core/clock.ts'
import { TokenError } from '../core/errors.ts'
import { MemoryRecord } from '../core/memory-store.ts'
import { checkChoice, checkedDuration, checkNumber, checkText, ownOptions } from '../core/option-checks.ts'
import type {
  ClaimAnswer,
  CoolDown,
  GrantedClaim,
  OpenableStore,
  RefreshTokenFate,
  ReleaseAnswer,
  Retry,
  NewTokens,
  StoredTokens,
  StoreReports,
  TokenRecord,
  TokenStore,
} from '../core/token-store.ts'
import { commandOf, reasonOf, type RedisClient } from './command.ts'
import { ForeignRecord, RedisRecord, type RedisSettings } from './redis-record.ts'
import { type EncryptionKey, KeyRing } from './sealed-box.ts'

export interface RedisStoreOptions {
  /** A connected node-redis (5, 6) or ioredis (5, 6) client, or anything that runs one command. */
  client: RedisClient
  /** First part of every key. Default `evergreen`. */
  prefix?: string | undefined
  /**
   * AES-256-GCM keys of 32 bytes: the first seals, all open. Without it tokens are stored readable, and a warning says so
   * once.
   */
  encryptionKeys?: readonly EncryptionKey[] | undefined
  /** Default 250. */
  commandTimeoutMs?: number | undefined
  /**
   * `private`: on a store outage each process gets its own tokens; `fail`: `ERR_STORE_UNAVAILABLE`. Default `private`.
   */
  onUnavailable?: 'private' | 'fail' | undefined
}

/**
 * Shares the tokens of each account among all processes that use the same Redis and the same `prefix`. One of them renews,
 * the others adopt; a single-use refresh token is presented once, even if its holder dies.
 *
 * @throws {TypeError | RangeError} naming the option.
 */
export function redisStore(options: RedisStoreOptions): TokenStore {
  const names = ['client', 'prefix', 'encryptionKeys', 'commandTimeoutMs', 'onUnavailable']
  const own = ownOptions('The options of redisStore', options, names)
  const { client, prefix = 'evergreen', encryptionKeys, commandTimeoutMs = 250, onUnavailable = 'private' } = own
  checkText('prefix', prefix)
  if (/[{}]/.test(prefix)) throw new TypeError(`prefix must not contain braces, got '${prefix}'`)
  checkNumber('commandTimeoutMs', commandTimeoutMs, 1)
  checkChoice('onUnavailable', onUnavailable, ['private', 'fail'])
  const settings: RedisSettings = {
    command: commandOf(client),
    prefix,
    keyRing: new KeyRing(encryptionKeys),
    commandTimeoutMs: checkedDuration('commandTimeoutMs', commandTimeoutMs),
    onUnavailable,
  }
  const store: OpenableStore = {
    kind: 'redis',
    open(key, clock, reports) {
      return new SharedRecord(settings, key, clock, reports)
    },
  }
  return Object.freeze(store)
}

/**
 * The shared record, and what happens without it: `private` tokens, which this process gets for itself and keeps to itself.
 * The shared refresh token is not presented meanwhile, because nobody can say who else presents it.
 */
class SharedRecord implements TokenRecord {
  readonly #shared: RedisRecord
  readonly #private: MemoryRecord
  readonly #onUnavailable: RedisSettings['onUnavailable']
  readonly #reports: StoreReports
  /** Private tokens carry the version that was seen last: whatever is shared later is newer. */
  #seenVersion = 0
  #privateVersion = 0
  /** The last `clear`, when it has ended. */
  #cleared: Promise<unknown> = Promise.resolve()
  #isReadable: boolean

  constructor(settings: RedisSettings, key: string, clock: Clock, reports: StoreReports) {
    this.#shared = new RedisRecord(settings, key, clock, reports)
    this.#private = new MemoryRecord(clock)
    this.#onUnavailable = settings.onUnavailable
    this.#reports = reports
    this.#isReadable = settings.keyRing.ids.includes('')
  }

  async claim(owner: string, seenVersion: number, ttlMs: number): Promise<ClaimAnswer> {
    // Once, and not before anybody can listen.
    if (this.#isReadable)
      this.#reports.anomaly('stored-tokens-readable', 'Tokens are stored readable: redisStore has no encryptionKeys')
    this.#isReadable = false
    // A claim that overtook it would belong to what it forgets.
    await this.#cleared
    try {
      return await this.#shared.claim(owner, seenVersion, ttlMs)
    } catch (thrown) {
      const error = this.#unavailable(thrown)
      if (this.#onUnavailable === 'fail' && !(thrown instanceof ForeignRecord)) throw error
    }
    this.#seenVersion = seenVersion
    const answer = await this.#private.claim(owner, this.#privateVersion, ttlMs)
    if (answer.kind !== 'granted') return answer
    return { ...answer, isPrivate: true, ...(answer.tokens && { tokens: this.#asSeen(answer.tokens) }) }
  }

  async accept(claim: GrantedClaim, tokens: NewTokens): Promise<StoredTokens> {
    if (claim.isPrivate) {
      const stored = await this.#private.accept(claim, tokens)
      this.#privateVersion = stored.version
      return this.#asSeen(stored)
    }
    try {
      return await this.#shared.accept(claim, tokens)
    } catch (thrown) {
      this.#unavailable(thrown)
      // They serve here, whatever has become of the command: a token in hand fails nobody.
      return { ...tokens, version: claim.version }
    }
  }

  async release(claim: GrantedClaim, fate: RefreshTokenFate, next?: Retry | CoolDown): Promise<ReleaseAnswer> {
    if (claim.isPrivate) return this.#private.release(claim, fate, next)
    try {
      return await this.#shared.release(claim, fate, next)
    } catch (thrown) {
      throw this.#unavailable(thrown)
    }
  }

  async clear(seenVersion: number): Promise<void> {
    const cleared = this.#shared.clear(seenVersion)
    // Before anything is awaited: from now on claims wait.
    this.#cleared = cleared.catch(() => undefined)
    await this.#private.clear(this.#privateVersion)
    try {
      await cleared
    } catch (thrown) {
      throw this.#unavailable(thrown)
    }
  }

  #unavailable(thrown: unknown): TokenError {
    if (thrown instanceof ForeignRecord) {
      this.#reports.anomaly('stored-tokens-unusable', `The shared token record is left alone: ${thrown.message}`)
      return new TokenError('ERR_STORE_UNAVAILABLE', `The shared token record cannot be used: ${thrown.message}`)
    }
    const message = `The shared token store is unavailable (${reasonOf(thrown)})`
    this.#reports.unavailable(message)
    return new TokenError('ERR_STORE_UNAVAILABLE', message)
  }

  #asSeen(tokens: StoredTokens): StoredTokens {
    return { ...tokens, version: this.#seenVersion }
  }
}
