import type { Account } from '../core/account.ts'
import { digestOf } from '../core/digest.ts'
import { endOfLogin, type TokenError } from '../core/errors.ts'
import type { CoolDown, LeaseResult } from '../core/lease.ts'
import type { LoginGenerations } from '../core/login-generations.ts'
import type { LoginHost, LoginView } from '../core/login-port.ts'
import type { Machine } from '../core/machine.ts'
import { CallFailed, coolDownOf } from '../core/plan.ts'
import type { NewTokens, StoredTokens } from '../core/stored-tokens.ts'
import type { NamedResource } from '../core/resource.ts'
import type { TokenRecord } from '../core/token-store.ts'
import type { ResourceManager } from './resource-manager.ts'
import type { Written } from './slot-view.ts'

/** One resource of a login. */
interface Member {
  readonly tokens: ResourceManager
  /** Undefined: it has a record and a lease of its own. */
  readonly joined: { readonly account: Account; readonly host: LoginHost } | undefined
}

type Access = Pick<NewTokens, 'accessToken' | 'accessLifetimeMs' | 'accessRemainingMs'>

/** Access tokens of resources that managers of one `memoryStore` share. */
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

/** The error of a caller whose login has ended or was replaced. */
function errorOfEnd(login: LoginView, { isAwaited }: LoginGenerations): TokenError {
  return isAwaited ? login.errorOfLoss('logged-out') : endOfLogin(true)
}

/** The resources of one manager. They follow its login, and share each new refresh token. */
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
    const ended = () => this.#ended()
    follow(account.generations, 'end', ended)
    follow(account.generations, 'replaced', ended)
    follow(machine, 'forget', ended)
    follow(machine, 'resume', () => this.#resume())
    follow(machine, 'close', () => this.#close())
    if (!account.settings.store) this.#keepLoss()
  }

  /** A record in memory does not keep why the login has ended. So the next lease request of each manager rejects with that error (F409). */
  #keepLoss(): void {
    const { record } = this.account.settings
    const acquire = record.acquire.bind(record)
    const acquired: TokenRecord['acquire'] = async (...given) => {
      if (this.#loss) throw new CallFailed(this.#loss, coolDownOf(this.#loss, Infinity, 1))
      return acquire(...given)
    }
    Object.defineProperty(record, 'acquire', { value: acquired, configurable: true, writable: true })
    follow(this.machine.logins, 'lost', (error: TokenError, by: 'here' | 'elsewhere') => {
      if (by === 'here') this.#loss = error
    })
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

  /** @returns The digests of the resources that were used since the record was last updated. */
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
    const message = `The access token for ${what.toString()} left the shared record, which must stay under 64 KiB: each process now requests its own`
    this.account.settings.events.anomaly('unexpected-response', message)
  }

  /** An exchange for a resource has rotated the refresh token of the login. @param before The version of the record that it began with. */
  rotated({ version, login, refreshToken, refreshRemainingMs }: StoredTokens, before: number): void {
    const { account } = this
    this.#rest = undefined
    if (account.seenVersion >= before) account.seenVersion = Math.max(account.seenVersion, version)
    const { current } = account
    if (!current || current.stored.login !== login || refreshToken === undefined) return
    const ageMs = current.stored.accessRemainingMs - current.remainingMs
    const leftMs = refreshRemainingMs === undefined ? undefined : refreshRemainingMs + ageMs
    current.stored = { ...current.stored, refreshRemainingMs: leftMs, refreshToken, version }
  }

  keepAccess(record: TokenRecord, key: string, { login, loginId }: StoredTokens, access: Access): void {
    const kept = keptIn.get(record) ?? new Map<string, KeptAccess>()
    keptIn.set(record, kept.set(key, { access, at: this.#now, login, loginId }))
  }

  /** The access token of a resource that belongs to the login of these tokens. */
  accessIn(record: TokenRecord, key: string, { login, loginId }: StoredTokens): Access | undefined {
    const kept = keptIn.get(record)?.get(key)
    if (!kept || kept.login !== login || kept.loginId !== loginId) return undefined
    const { access, at } = kept
    return { ...access, accessRemainingMs: access.accessRemainingMs - (this.#now - at) }
  }

  rests(coolDown: CoolDown): void {
    if (!this.account.settings.store && coolDown.ms < Infinity)
      this.#rest = { coolDown, until: this.#now + coolDown.ms }
  }

  resting(isForced: boolean): Extract<LeaseResult, { kind: 'cooling' }> | undefined {
    const rest = this.#rest
    const ms = rest ? rest.until - this.#now : 0
    if (!rest || ms <= 0 || (isForced && !rest.coolDown.isFirm)) return undefined
    return { kind: 'cooling', coolDown: { ...rest.coolDown, ms } }
  }

  get #now(): number {
    return this.account.settings.tokenClock.now()
  }

  /** The login has ended, or another one has begun: no token of the old login is sent any more (R10). */
  #ended(): void {
    const { generations, login } = this.account
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
      if (login) host.room.dismiss(errorOfEnd(login, generations), Infinity, generations.first)
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
