import { isTokenError, TokenError } from '../core/errors.ts'
import { mayCarrySecrets, parsedUrl } from '../core/secure-origin.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import type { TokenCalls } from '../wire/token-call.ts'
import { memberOf, type Members } from './document.ts'
import { metadataAt } from './metadata.ts'
import type { ServerAddresses } from './oauth2-settings.ts'

/** Where to call a server, and what it is called. */
export interface Endpoints {
  readonly tokenEndpoint: URL
  readonly revocationEndpoint: URL | undefined
  readonly issuer: string
}

const DAY_MS = 86_400_000
/** If the metadata cannot be had again after a day, the old ones serve this much longer. */
const GRACE_MS = 300_000

/** The endpoints of one authorization server: those of the options, or those that its metadata name. */
export class AuthorizationServer {
  readonly #addresses: ServerAddresses
  readonly #calls: TokenCalls
  #found: Endpoints | undefined
  /** The metadata are asked again from here on, monotonic ms. */
  #askAt = 0

  constructor(addresses: ServerAddresses, calls: TokenCalls) {
    this.#addresses = addresses
    this.#calls = calls
  }

  /** The server in an id. */
  get name(): string {
    const { tokenEndpoint, issuer } = this.#addresses
    return tokenEndpoint?.href ?? String(issuer)
  }

  /** Whether tokens can be revoked, as far as is known before the metadata are. */
  get mayRevoke(): boolean {
    const { tokenEndpoint, revocationEndpoint } = this.#addresses
    return !tokenEndpoint || revocationEndpoint !== undefined
  }

  forget(): void {
    this.#found = undefined
  }

  /** @throws {TokenError} if the metadata cannot be had or used. Nothing was sent then, so the refresh token is untouched. */
  async endpoints(context: ExchangeContext): Promise<Endpoints> {
    const { tokenEndpoint, revocationEndpoint, issuer } = this.#addresses
    if (tokenEndpoint) return { tokenEndpoint, revocationEndpoint, issuer: String(issuer ?? tokenEndpoint.href) }
    const now = context.clock.monotonicNow()
    const old = this.#found
    if (old && now < this.#askAt) return old
    this.#askAt = now + GRACE_MS
    const { waitsFor } = internalOf(context)
    waitsFor?.('The metadata of issuer')
    try {
      this.#found = await this.#ask(context)
      this.#askAt = now + DAY_MS
      return this.#found
    } catch (error) {
      if (old && isTokenError(error, 'ERR_TOKEN_SERVICE_UNAVAILABLE')) return old
      throw error
    } finally {
      waitsFor?.(undefined)
    }
  }

  /** Asks one address after the other until one has usable metadata. */
  async #ask(context: ExchangeContext): Promise<Endpoints> {
    const failures: unknown[] = []
    for (const url of metadataAddresses(new URL(String(this.#addresses.issuer)))) {
      try {
        return this.#endpointsIn(await metadataAt(this.#calls, url, context, 'issuer'))
      } catch (error) {
        failures.push(error)
      }
      if (context.signal.aborted) break
    }
    // What is wrong with metadata that came tells more than that others did not come.
    throw failures.find((error) => isTokenError(error, 'ERR_TOKEN_REQUEST')) ?? failures.at(-1)
  }

  #endpointsIn(metadata: Members): Endpoints {
    const { issuer: expected, revocationEndpoint, allowInsecureHttp } = this.#addresses
    const issuer = memberOf(metadata, 'issuer')
    const isSame = expected instanceof URL ? parsedUrl(String(issuer))?.href === expected.href : issuer === expected
    // Otherwise anybody could name the endpoints of somebody else (RFC 8414, section 3.3).
    if (!isSame)
      throw unusable(
        'issuer must be the very text that its metadata name; they name another issuer: compare the host, the path and the last slash',
      )
    const endpoint = (name: string) => {
      const value = memberOf(metadata, name)
      if (value === undefined) return undefined
      const url = typeof value === 'string' ? parsedUrl(value) : undefined
      if (url && !url.username && !url.password && mayCarrySecrets(url, allowInsecureHttp)) return url
      throw unusable(`${name} in the metadata of issuer must be an https URL`)
    }
    const tokenEndpoint = endpoint('token_endpoint')
    if (!tokenEndpoint) throw unusable('the metadata of issuer name no token_endpoint: give tokenEndpoint')
    return {
      tokenEndpoint,
      revocationEndpoint: revocationEndpoint ?? endpoint('revocation_endpoint'),
      issuer: String(issuer),
    }
  }
}

/** RFC 8414, section 3.1, puts its path before that of the issuer; OpenID Connect Discovery, section 4, behind it. */
function metadataAddresses({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '')
  return [
    new URL(`${origin}/.well-known/oauth-authorization-server${path}`),
    new URL(`${origin}${path}/.well-known/openid-configuration`),
  ]
}

/** @param why Must quote nothing of the metadata. */
function unusable(why: string): TokenError {
  return new TokenError('ERR_TOKEN_REQUEST', `No token call was made: ${why}`, { outcome: 'not-sent' })
}
