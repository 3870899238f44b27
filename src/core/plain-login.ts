import type { Account } from './account.ts'
import { CREDENTIAL_RULES } from './credential-rules.ts'
import { type LoginReason, TokenError } from './errors.ts'
import { newTokens } from './exchange.ts'
import { randomHex } from './digest.ts'
import { readAdopted } from './grant.ts'
import { LoginGenerations } from './login-generations.ts'
import type { LoginCode, LoginHost, Logins, LoginView, LogoutResult, LoginChecker } from './login-port.ts'
import { resetSource, revokeAtSource } from './source-acts.ts'
import type { AdoptedGrant } from './token-source.ts'
import type { StoredTokens } from './token-store.ts'

/** What a manager knows of a login if its source has none: which requests began before the last act. */
class PlainView implements LoginView {
  readonly generations = new LoginGenerations()
  readonly isPending = false
  readonly isKnown = true
  readonly isPresent = true
  readonly number = undefined
  statusWith = () => ({})
  isOther = () => false
  isOfEndedLogin = () => false
  held = () => undefined
  skipped = () => undefined
  errorOf = (error: TokenError) => error
  /** The source, or another manager of the record, asks for a login. */
  errorOfLoss = (loginReason?: LoginReason, { status, serviceCode }: Partial<TokenError> = {}) =>
    new TokenError('ERR_LOGIN_REQUIRED', 'A login is required: call adopt() with its tokens', {
      loginReason,
      status,
      serviceCode,
    })
}

/** `adopt` and `reset` of a manager whose source can obtain. */
class PlainLogins implements Logins {
  readonly #account: Account
  readonly #host: LoginHost
  /** The number in the record under which the tokens of now were stored. Undefined: an act of this manager came since. */
  #number: number | undefined

  constructor(account: Account, host: LoginHost) {
    this.#account = account
    this.#host = host
  }

  adopt(given: AdoptedGrant): Promise<void> {
    const account = this.#account
    const { acts, login, settings } = account
    const { record, tokenClock } = settings
    const grant = readAdopted(given)
    this.#checkOpen()
    if (login.generations.hasStarted) login.generations.replaced()
    else login.generations.started()
    this.#forget()
    account.spent = undefined
    account.discarded = []
    const beganAt = tokenClock.now()
    const stored = acts.begin(async () => {
      const tokens = { ...newTokens(grant, account, tokenClock.now() - beganAt), loginId: randomHex() }
      const { version } = await record.adopt(account.seenVersion, tokens)
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
    const { acts, login, settings } = account
    account.discardRefreshToken()
    login.generations.end()
    this.#forget()
    const cleared = acts.begin(() => settings.record.clear(account.seenVersion, {}))
    await resetSource(account, this.#host, cleared)
  }

  /** A reset, and what was held is revoked, if the source can. The layers of `src/login` try again, and keep what could not be revoked. */
  async logout(): Promise<LogoutResult> {
    const { current, lateTokens, settings } = this.#account
    const ended = this.reset()
    await this.#host.afterExchange(() => Promise.resolve())
    const held = lateTokens.at(-1) ?? current?.stored
    const left = held ? await revokeAtSource(settings, held) : ({ reason: 'nothing' } as const)
    await ended
    if (!left) return { revoked: true }
    const { reason } = left
    if (held)
      settings.events.anomaly('not-revoked', `The tokens of an ended login are still valid at the service (${reason})`)
    return { revoked: false, reason }
  }

  /** Requests in flight do not get what came after an act of another owner (F209), nor what belongs to another person, if the service names people (F344). */
  use(tokens: StoredTokens): void {
    const { login, current } = this.#account
    const { login: number = 0, subject } = tokens
    const before = current?.stored.subject
    const isAfterAct = number > 0 && this.#number !== undefined && number !== this.#number && !current?.isOf(tokens)
    if (isAfterAct || (subject !== undefined && before !== undefined && subject !== before))
      login.generations.replaced()
    else login.generations.started()
    if (number > 0) this.#number = number
  }

  stop(): void {
    this.#account.login.generations.end()
    this.#account.current = undefined
  }

  lost = () => undefined
  concludeLoss = () => undefined
}

/** Nobody needs to hear of the acts of other owners: the next claim says what the record holds. */
const NO_CHECKER: LoginChecker = {
  check: () => Promise.resolve(),
  checkOnce: () => Promise.resolve(),
  learned: () => undefined,
  resume: () => undefined,
  follow: () => () => undefined,
  close: () => undefined,
}

/** What stands in the place of a layer if the source can obtain, and nobody logs in. */
export const PLAIN: LoginCode<Account> = {
  rules: CREDENTIAL_RULES,
  needsLogin: false,
  keepsMs: 0,
  view: () => new PlainView(),
  open: (account, host) => ({ logins: new PlainLogins(account, host), checker: NO_CHECKER }),
}
