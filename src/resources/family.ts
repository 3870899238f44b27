import type { Account } from '../core/account.ts'
import { digestOf } from '../core/digest.ts'
import { isTokenError, TokenError } from '../core/errors.ts'
import { type CoolDown, isOfLogin, type View } from '../core/lease.ts'
import type { LoginHost } from '../core/login-port.ts'
import type { Machine } from '../core/machine.ts'
import { CallFailed, coolDownOf } from '../core/plan.ts'
import type { NewTokens, StoredTokens } from '../core/stored-tokens.ts'
import type { NamedResource } from '../core/resource.ts'
import type { TokenRecord } from '../core/token-store.ts'
import type { ResourceManager } from './resource-manager.ts'
import { withoutExpired, type Written } from './slot-view.ts'

/** One resource of a login. */
interface Member {
  readonly tokens: ResourceManager
  /** Undefined: it has a record and a lease of its own. */
  readonly joined: { readonly account: Account; readonly host: LoginHost } | undefined
}

type Access = Pick<NewTokens, 'accessToken' | 'accessLifetimeMs' | 'accessRemainingMs'>

/** The access token of a resource, shared by the managers of one `memoryStore`. */
interface KeptAccess {
  readonly access: Access
  readonly at: number
  readonly login: number | undefined
  readonly loginId: string | undefined
}
const keptIn = new WeakMap<TokenRecord, Map<string, KeptAccess>>()

/** Calls `then` after each call of the method, so that core contains no code for resources. */
function follow<Target extends object>(
  target: Target,
  name: keyof Target & string,
  then: (...given: never[]) => void,
): void {
  const method: unknown = target[name]
  if (typeof method !== 'function') return
  const followed = (...given: never[]) => {
    const result: unknown = Reflect.apply(method, target, given)
    then(...given)
    return result
  }
  Object.defineProperty(target, name, { value: followed, configurable: true, writable: true })
}

/** @returns The backoff of a manager that `onSuspicious` has stopped. */
export function stopIn({ backoff }: Pick<Account, 'backoff'>): Account['backoff'] {
  return backoff?.error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN' ? backoff : undefined
}

function restError({ code, ...details }: CoolDown): TokenError {
  return new TokenError(code, 'Another token request of this login has just failed', details)
}

/** The resources of one manager. If it has a login, they follow that login, and share each new refresh token. With credentials, each has tokens of its own. */
export class Family {
  readonly account: Account
  readonly machine: Machine
  readonly members = new Map<string, Member>()
  readonly #digests = new Map<string, Promise<string>>()
  /** The keys of the resources, by digest. */
  readonly #keys = new Map<string, string>()
  /** Without a store, the cool-down that holds for all managers of the login. `until` is an instant of the token clock. */
  #rest: { readonly coolDown: CoolDown; readonly until: number } | undefined
  /** Without a store, the error of the token request that ended the login. */
  #loss: TokenError | undefined
  /** The login generation of the last end. */
  #generation: number

  constructor(account: Account, machine: Machine) {
    this.account = account
    this.machine = machine
    this.#generation = account.generations.current
    const { rules, store } = account.settings
    const ended = () => this.#ended()
    follow(account.generations, 'end', ended)
    follow(account.generations, 'replaced', ended)
    follow(machine, 'forget', ended)
    // Callers of an ended login get the same error, whichever of its tokens they wait for.
    follow(machine.room, 'dismiss', (error: TokenError, until: number, before = 0) => {
      for (const { joined } of this.members.values()) joined?.host.room.dismiss(error, until, before)
    })
    follow(machine, 'resume', () => this.#resume())
    follow(machine, 'close', () => this.#close())
    // For other sources, such as a session, each resource has a record of its own.
    if (!isOfLogin(rules)) return
    if (!store) this.#keepFailures()
    // The managers of a `memoryStore` share one record, which keeps no tokens of resources.
    else if (store.kind !== 'memory') this.#dropExpired()
  }

  /**
   * Without a store, the record keeps neither a cool-down nor the error that ended the login. The family keeps both: while either applies,
   * lease requests reject (F409).
   */
  #keepFailures(): void {
    const { error } = this.account.backoff ?? {}
    if (isTokenError(error, 'ERR_LOGIN_REQUIRED')) this.#loss = error
    const { record } = this.account.settings
    const acquire = record.acquire.bind(record)
    const release = record.release.bind(record)
    const own: Pick<TokenRecord, 'acquire' | 'release'> = {
      acquire: async (...given) => {
        this.#checkRest(given[3]?.breaksCoolDown === true)
        return acquire(...given)
      },
      release: (lease, given) =>
        release(lease, (meanwhile) => {
          const report = typeof given === 'function' ? given(meanwhile) : given
          const { shared } = report
          if (shared?.kind === 'cool-down' && shared.ms < Infinity)
            this.#rest = { coolDown: shared, until: this.#now + shared.ms }
          return report
        }),
    }
    Object.assign(record, own)
    follow(record, 'accept', () => (this.#rest = undefined))
    follow(this.machine.logins, 'lost', (error: TokenError, by: 'here' | 'elsewhere') => {
      if (by === 'here') this.#loss = error
    })
  }

  /** The exchanges of the login's own manager, too, drop expired tokens of resources from the record. */
  #dropExpired(): void {
    const { record } = this.account.settings
    const acquire = record.acquire.bind(record)
    const view: View = (step) => withoutExpired(step as never) as never
    const own: Pick<TokenRecord, 'acquire'> = {
      acquire: async (...given) => {
        const result = await acquire(...given)
        // The same object: a copy would be another lease.
        return result.kind === 'granted' && !given[3]?.view ? Object.assign(result, { view }) : result
      },
    }
    Object.assign(record, own)
  }

  /** @throws {CallFailed} Why no manager of the login may make a token request now. */
  #checkRest(isForced: boolean): void {
    if (this.#loss) throw new CallFailed(this.#loss, coolDownOf(this.#loss, Infinity, 1))
    const { coolDown, until } = this.#rest ?? { until: 0 }
    const ms = until - this.#now
    if (coolDown && ms > 0 && (coolDown.isFirm || !isForced))
      throw new CallFailed(restError(coolDown), { ...coolDown, ms })
  }

  /** Half of a SHA-256 digest, because a record must not contain the names of APIs. */
  digestOf(key: string): Promise<string> {
    const known = this.#digests.get(key)
    if (known) return known
    // Without WebCrypto there is no shared record, either.
    const digest = digestOf('SHA-256', key).then(
      (all) => all.slice(0, 32),
      () => key,
    )
    this.#digests.set(key, digest)
    void digest.then((found) => this.#keys.set(found, key))
    return digest
  }

  /** @returns The digests of the resources that have been used since the record was last updated. */
  used(): string[] {
    return [...this.#keys.keys()].filter((digest) => this.#tokensOf(digest)?.isUsed)
  }

  /** The record has stored the uses of these resources (`used`), and dropped the tokens of others (`tooLarge`). */
  written({ used, tooLarge }: Written): void {
    for (const digest of used) this.#tokensOf(digest)?.useWritten()
    for (const digest of tooLarge) this.#reportTooLarge(digest)
  }

  #tokensOf(digest: string): ResourceManager | undefined {
    return this.members.get(this.#keys.get(digest) ?? '')?.tokens
  }

  #reportTooLarge(digest: string): void {
    const what: NamedResource = this.#tokensOf(digest)?.status().resource ?? 'a resource'
    const message = `The access token for ${what.toString()} was dropped from the shared record, which must stay under 64 KiB: each process now requests its own`
    this.account.settings.events.anomaly('unexpected-response', message)
  }

  /**
   * An exchange for a resource has rotated the refresh token of the login. The manager of the login has seen this version only if it holds that token:
   * otherwise the login of another user would revoke a spent one, or none (F281).
   *
   * @param before The version of the record that the exchange began with.
   */
  rotated(stored: StoredTokens, before: number): void {
    const { account } = this
    const { current, login, seenVersion } = account
    const { refreshToken, refreshRemainingMs, version } = stored
    if (!current || login?.isOther(stored) || refreshToken === undefined) return
    if (seenVersion >= before) account.seenVersion = Math.max(seenVersion, version)
    const ageMs = current.stored.accessRemainingMs - current.remainingMs
    const leftMs = refreshRemainingMs === undefined ? undefined : refreshRemainingMs + ageMs
    current.stored = { ...current.stored, refreshRemainingMs: leftMs, refreshToken, version }
  }

  keepAccess(record: TokenRecord, key: string, { login, loginId }: StoredTokens, access: Access): void {
    const kept = keptIn.get(record) ?? new Map<string, KeptAccess>()
    keptIn.set(record, kept.set(key, { access, at: this.#now, login, loginId }))
  }

  /** @returns The access token of a resource; undefined if there is none that belongs to the login of these tokens. */
  accessIn(record: TokenRecord, key: string, { login, loginId }: StoredTokens): Access | undefined {
    const kept = keptIn.get(record)?.get(key)
    if (!kept || kept.login !== login || kept.loginId !== loginId) return undefined
    const { access, at } = kept
    return { ...access, accessRemainingMs: access.accessRemainingMs - (this.#now - at) }
  }

  get #now(): number {
    return this.account.settings.tokenClock.now()
  }

  /** The login has ended, or another one has begun: no token of the old login is sent any more (R10). */
  #ended(): void {
    const { account } = this
    const { generations, login } = account
    // With credentials, each resource has a refresh token of its own.
    if (!login && stopIn(account)) return
    const isEnd = generations.current !== this.#generation && (login !== undefined || generations.isAwaited)
    this.#generation = generations.current
    this.#rest = this.#loss = undefined
    for (const { tokens, joined } of this.members.values()) {
      if (!joined) {
        if (isEnd) tokens.restart()
        continue
      }
      const { host } = joined
      host.forget()
      // The act in progress comes first.
      void Promise.resolve().then(() => host.renewIfAwaited())
    }
  }

  #resume(): void {
    for (const { joined } of this.members.values()) joined?.host.resume()
  }

  #close(): void {
    for (const { tokens } of this.members.values()) void tokens.close()
  }
}
