import type { Account } from './account.ts'
import { CREDENTIAL_RULES } from './credential-rules.ts'
import { randomHex } from './digest.ts'
import { newTokens } from './exchange.ts'
import { readAdopted } from './grant.ts'
import type { LoginCode, LoginHost, Logins, LogoutResult } from './login-port.ts'
import { resetSource, revokeAtSource } from './source-acts.ts'
import type { StoredTokens } from './stored-tokens.ts'
import type { AdoptedGrant } from './token-source.ts'

/** `adopt`, `reset` and `logout` of a manager whose source obtains with credentials. */
class PlainLogins implements Logins {
  readonly #account: Account
  readonly #host: LoginHost
  /** The login number under which the record stored the current tokens. Undefined after an `adopt` or `reset` of this manager. */
  #number: number | undefined

  constructor(account: Account, host: LoginHost) {
    this.#account = account
    this.#host = host
  }

  adopt(given: AdoptedGrant): Promise<void> {
    const account = this.#account
    const { acts, generations, settings } = account
    const { record, tokenClock } = settings
    const grant = readAdopted(given)
    this.#checkOpen()
    if (generations.hasStarted) generations.replaced()
    else generations.started()
    this.#forget()
    account.spent = undefined
    account.discarded = []
    const beganAt = tokenClock.now()
    const stored = acts.begin(account.seenVersion, async (act) => {
      const tokens = { ...newTokens(grant, account, tokenClock.now() - beganAt), loginId: randomHex() }
      const { version } = await record.adopt(account.seenVersion, tokens, act)
      account.seenVersion = Math.max(version, account.seenVersion)
    })
    this.#host.use({ ...newTokens(grant, account), version: account.seenVersion })
    return stored
  }

  async adoptPromised(given: PromiseLike<AdoptedGrant | undefined>): Promise<void> {
    const promise = Promise.resolve(given)
    promise.catch(() => undefined)
    this.#checkOpen()
    const grant = await promise
    if (grant !== undefined) await this.adopt(grant)
  }

  #checkOpen(): void {
    if (this.#account.isClosed) throw this.#host.denial('closed')
  }

  #forget(): void {
    this.#account.lateTokens = []
    this.#number = undefined
    this.#host.forget()
  }

  async reset(): Promise<void> {
    const account = this.#account
    const { acts, generations, settings } = account
    account.discard()
    generations.end()
    this.#forget()
    const cleared = acts.begin(account.seenVersion, () => settings.record.clear(account.seenVersion))
    await resetSource(account, this.#host, cleared)
  }

  /** Resets, then revokes the tokens if the source can. Only the layers of `src/login` retry, and keep tokens that could not be revoked. */
  async logout(): Promise<LogoutResult> {
    const { current, lateTokens, settings } = this.#account
    const ended = this.reset()
    await this.#host.afterExchange(() => Promise.resolve())
    const tokens = lateTokens.at(-1) ?? current?.stored
    const failed = tokens ? await revokeAtSource(settings, tokens) : ({ reason: 'nothing' } as const)
    await ended
    if (!failed) return { revoked: true }
    const { reason } = failed
    if (tokens)
      settings.events.anomaly('not-revoked', `The tokens of an ended login are still valid at the service (${reason})`)
    return { revoked: false, reason }
  }

  /**
   * Uses new tokens. Requests in flight do not receive tokens that were stored after an act of another owner (F209), or tokens that are known to be of
   * another user (F344).
   */
  use(tokens: StoredTokens): void {
    const { generations, current } = this.#account
    const { login: number = 0, subject } = tokens
    const before = current?.stored.subject
    const isAfterAct = number > 0 && this.#number !== undefined && number !== this.#number && !current?.isOf(tokens)
    if (isAfterAct || (subject !== undefined && before !== undefined && subject !== before)) generations.replaced()
    else generations.started()
    if (number > 0) this.#number = number
  }

  stop(): void {
    this.#account.generations.end()
    this.#account.current = undefined
  }
}

/** Used instead of a login layer for sources that obtain with credentials. */
export const PLAIN: LoginCode<Account> = {
  rules: CREDENTIAL_RULES,
  keepsMs: 0,
  view: undefined,
  open: (account, host) => ({ logins: new PlainLogins(account, host), checker: undefined }),
}
