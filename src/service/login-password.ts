import { isTokenError, TokenError } from '../core/errors.ts'
import { asGiven, checkedFlag, readOptions } from '../core/option-checks.ts'
import { checkWebCrypto } from '../core/runtime.ts'
import {
  type ExchangeContext,
  GRANT_DETAILS,
  type DetailedGrant,
  type TokenGrant,
  type TokenSource,
} from '../core/token-source.ts'
import { attachCredentials } from '../core/attach-credentials.ts'
import { clockSkew } from './clock-skew.ts'
import { CREDENTIAL_OPTIONS, credentialSource, type ProvidedCredentials } from './credentials.ts'
import { readMetaTime } from './meta-time.ts'
import { isAuthentic } from './response-signature.ts'
import { type Moment, momentOf, ServiceClock } from './service-clock.ts'
import { parseTimestamp } from './timestamp.ts'
import { type SuccessResponse, TokenDocument, VARIANT_A, VARIANT_B } from './token-document.ts'
import type { TokenServiceOptions } from '../wire/token-call.ts'
import { SERVICE_OPTIONS, TokenEndpoint } from './token-endpoint.ts'

export type LoginPasswordOptions = TokenServiceOptions & {
  /** Verify `meta.sign` of obtain responses. If it is missing or wrong, the exchange rejects with `ERR_SIGNATURE`. Default true. */
  verifySignature?: boolean | undefined
} & (Login | ProvidedCredentials<Login>)

/** The credentials of Variant B (specification, section 2.3). */
export interface Login {
  login: string
  password: string
}

/**
 * The token source of Variant B, which the service has deprecated (specification, sections 2.3 to 2.5, 4.2, 4.3, 5, 7.2 and
 * 7.3): `login` and `password`, rotating refresh tokens, signed obtain responses. Lifetimes are measured by the service's clock.
 *
 * @example
 * ```ts
 * import { loginPassword } from 'axios-evergreen'
 *
 * const source = loginPassword({
 *   baseUrl: 'https://payments.example.com/api',
 *   login: process.env.ACCOUNT_LOGIN ?? '',
 *   password: process.env.ACCOUNT_PASSWORD ?? '',
 * })
 * ```
 * @throws {TypeError} naming the option.
 */
export function loginPassword(options: LoginPasswordOptions): TokenSource {
  return new LoginPassword(options)
}

class LoginPassword implements TokenSource {
  readonly #endpoint: TokenEndpoint
  readonly #login
  readonly #verifies: boolean
  readonly #serviceClock = new ServiceClock()

  constructor(options: LoginPasswordOptions) {
    const table = {
      ...SERVICE_OPTIONS,
      login: asGiven,
      password: asGiven,
      ...CREDENTIAL_OPTIONS,
      verifySignature: (name: string, given: unknown = true) => checkedFlag(name, given),
    }
    const own = readOptions('The options of loginPassword', options, table, '')
    this.#verifies = own.verifySignature
    if (this.#verifies) checkWebCrypto('verifySignature', 'set it to false')
    this.#endpoint = new TokenEndpoint(own, VARIANT_B)
    this.#login = credentialSource(own, ['login', 'password'])
    attachCredentials(this, () => this.#login.fixed)
  }

  // Accessors, so that id and origin are not printed with the source.
  get id(): string {
    const { account } = this.#login
    return account === '' ? '' : `variant-b ${this.#endpoint.href} ${account}`
  }

  get origin(): string {
    return this.#endpoint.origin
  }

  async obtain(context: ExchangeContext): Promise<TokenGrant> {
    const credentials = await this.#login.get(context)
    const sent = momentOf(context.clock)
    const response = await this.#endpoint.post('obtain', credentials, context)
    const document = new TokenDocument(response, 'wrapped')
    checkVariant(document)
    await this.#acceptMeta(document, response, () => credentials, sent, context)
    return this.#grant(document, response, sent, context)
  }

  async refresh(refreshToken: string, context: ExchangeContext): Promise<TokenGrant> {
    const sent = momentOf(context.clock)
    const response = await this.#endpoint
      .post('refresh', { refresh: refreshToken }, context)
      .catch(async (error: unknown) => {
        if (isTokenError(error, 'ERR_REFRESH_REJECTED')) await this.#login.report(context)
        throw error
      })
    const document = new TokenDocument(response, 'wrapped-or-bare')
    checkVariant(document)
    // The specification does not sign refresh responses. If one is signed, its signature must be valid. The
    // meta of an unsigned one proves nothing.
    if (!this.#verifies || (document.meta('sign') ?? undefined) !== undefined)
      await this.#acceptMeta(document, response, () => this.#credentialsAfter(response), sent, context)
    return this.#grant(document, response, sent, context, refreshToken)
  }

  /** Gets the credentials after a refresh. The refresh token has been used by then, so no failure may count as `not-sent`. */
  async #credentialsAfter({ address, status }: SuccessResponse): Promise<Login> {
    try {
      return await this.#login.get()
    } catch (cause) {
      const message = `The response from ${address} could not be verified: the credentials function failed`
      throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', message, { outcome: 'unknown', status, cause })
    }
  }

  /** `reset()` of the manager calls this, because the next account may be at a service with another clock. */
  reset(): void {
    this.#serviceClock.forget()
  }

  /** Verifies `meta.sign`, and sets the service's clock by `meta.time`. @throws {TokenError} `ERR_SIGNATURE` */
  async #acceptMeta(
    document: TokenDocument,
    response: SuccessResponse,
    credentials: () => Login | Promise<Login>,
    sent: Moment,
    { report }: ExchangeContext,
  ): Promise<void> {
    const refresh = document.attribute('refresh')
    const { timestamp, flaw } = readMetaTime(document.meta('time'), refresh, this.#serviceClock.zoneWasSeen)
    // The format is checked first: the signature stays valid if characters move from `time` to `refresh`.
    if (this.#verifies && flaw !== undefined) throw distrusted(response, flaw)
    if (this.#verifies) await verify(document, response, await credentials())
    if (!timestamp) return
    const seen = { time: timestamp, refresh, sent }
    const age = this.#verifies ? this.#serviceClock.judge(seen) : 'newer'
    if (age === 'old') throw distrusted(response, 'it is old: meta.time does not advance')
    this.#serviceClock.set(seen)
    const skew = clockSkew(age, timestamp, sent, response.date)
    if (skew !== undefined) report?.('clock-skew', skew)
  }

  /**
   * @param presented The refresh token that was sent. If the response has a new one, no other member may discard it (F345).
   * @throws {TokenError} `ERR_TOKEN_RESPONSE` if the access token, its expiry or the refresh token is unusable.
   */
  #grant(
    document: TokenDocument,
    { date }: SuccessResponse,
    sent: Moment,
    { report }: ExchangeContext,
    presented?: string,
  ): DetailedGrant {
    const unexpected = (what: string) => report?.('unexpected-response', `The token response ${what}`)
    const serviceNow = this.#serviceClock.at(sent, date)
    const next = document.attribute('refresh') ?? undefined
    const isRotated = isRotation(next, presented)
    const access = accessIn(document, serviceNow ?? sent.wall, isRotated)
    if (!document.hasId) unexpected('has no id')
    // The manager reports a missing refresh token, because only the manager knows whether one was expected.
    if (next === undefined) return access
    const grant = { ...access, refreshToken: document.text('refresh') }
    const refreshEnd = parseTimestamp(document.attribute('refresh_expired_at'))
    if (!refreshEnd) unexpected('has no readable refresh_expired_at')
    // Without the service's clock the expiry is useless, because this machine's clock may be wrong.
    if (!refreshEnd || serviceNow === undefined) return grant
    const refreshLifetimeMs = refreshEnd.at - serviceNow
    if (refreshLifetimeMs > 0) return { ...grant, refreshLifetimeMs }
    return isRotated ? grant : access
  }
}

function isRotation(next: unknown, presented: string | undefined): boolean {
  return presented !== undefined && typeof next === 'string' && next !== '' && next !== presented
}

/** @param isRotated The response has a new refresh token, so the manager decides about an unusable access token. */
function accessIn(document: TokenDocument, now: number, isRotated: boolean): DetailedGrant {
  const end = parseTimestamp(document.attribute('access_expired_at'))
  const accessLifetimeMs = (end?.at ?? NaN) - now
  try {
    if (!end && !isRotated) throw document.wrong('attributes.access_expired_at', 'a timestamp')
    if (accessLifetimeMs <= 0) throw document.unusable('the access token has expired by the service’s own clock')
    return { accessToken: document.text('access'), accessLifetimeMs }
  } catch (flaw) {
    if (!isRotated) throw flaw
    return { accessToken: '', accessLifetimeMs: 0, [GRANT_DETAILS]: { flaw: flaw as TokenError } }
  }
}

function checkVariant(document: TokenDocument): void {
  if (document.attribute('access_expired_at') === undefined && document.attribute('expires_in') !== undefined)
    throw document.unusable(`it uses ${VARIANT_A}`)
}

/** @throws {TokenError} `ERR_SIGNATURE` */
async function verify(document: TokenDocument, response: SuccessResponse, { login, password }: Login): Promise<void> {
  const signed = {
    time: textOf(document.meta('time')),
    refresh: textOf(document.attribute('refresh')),
    sign: document.meta('sign'),
  }
  if (!(await isAuthentic(signed, login, password))) throw distrusted(response, 'meta.sign is missing or wrong')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function distrusted({ address, status }: SuccessResponse, why: string): TokenError {
  const message = `The response from ${address} cannot be trusted: ${why}`
  return new TokenError('ERR_SIGNATURE', message, { outcome: 'unknown', status })
}
