import { isTokenError, TokenError } from '../core/errors.ts'
import { mayCarrySecrets, parsedUrl } from '../core/secure-origin.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import type { TokenCalls } from '../wire/token-call.ts'
import { memberOf, type Members } from './document.ts'
import { metadataAt } from './metadata.ts'
import type { Endpoints, TokenServer } from './token-server.ts'

/** The options that concern a server with metadata. */
export interface Issuer {
  /** A string must equal the issuer in the metadata character by character. */
  readonly issuer: string | URL
  readonly revocationEndpoint: URL | undefined
  readonly allowInsecureHttp: boolean
  /** Whether the client authenticates by its certificate (RFC 8705). */
  readonly hasCertificate: boolean
}

const DAY_MS = 86_400_000
/** If a refetch of the metadata fails, the old ones are used for this much longer before the next attempt. */
const GRACE_MS = 300_000

/** An authorization server whose endpoints are in its metadata. */
export class AuthorizationServer implements TokenServer {
  readonly mayRevoke = true
  readonly #options: Issuer
  readonly #calls: TokenCalls
  #discovered: Endpoints | undefined
  /** When the metadata are fetched again, monotonic ms. */
  #refreshAt = 0

  constructor(options: Issuer, calls: TokenCalls) {
    this.#options = options
    this.#calls = calls
  }

  get name(): string {
    return String(this.#options.issuer)
  }

  forget(): void {
    this.#discovered = undefined
  }

  /** @throws {TokenError} if the metadata could not be fetched or are unusable. */
  async endpoints(context: ExchangeContext): Promise<Endpoints> {
    const now = context.clock.monotonicNow()
    const old = this.#discovered
    if (old && now < this.#refreshAt) return old
    this.#refreshAt = now + GRACE_MS
    const { waitsFor } = internalOf(context)
    waitsFor?.('The metadata of issuer')
    try {
      this.#discovered = await this.#discover(context)
      this.#refreshAt = now + DAY_MS
      return this.#discovered
    } catch (error) {
      if (old && isTokenError(error, 'ERR_TOKEN_SERVICE_UNAVAILABLE')) return old
      throw error
    } finally {
      waitsFor?.(undefined)
    }
  }

  /** Fetches the addresses one after the other until one has usable metadata. */
  async #discover(context: ExchangeContext): Promise<Endpoints> {
    const failures: unknown[] = []
    for (const url of metadataAddresses(new URL(this.name))) {
      try {
        return this.#endpointsIn(await metadataAt(this.#calls, url, context, 'issuer'))
      } catch (error) {
        failures.push(error)
      }
      if (context.signal.aborted) break
    }
    // Unusable metadata are a better explanation than missing ones.
    throw failures.find((error) => isTokenError(error, 'ERR_TOKEN_REQUEST')) ?? failures.at(-1)
  }

  #endpointsIn(metadata: Members): Endpoints {
    const { issuer: expected, revocationEndpoint, allowInsecureHttp, hasCertificate } = this.#options
    const issuer = memberOf(metadata, 'issuer')
    const isSame = expected instanceof URL ? parsedUrl(String(issuer))?.href === expected.href : issuer === expected
    // Otherwise a server could impersonate another issuer (RFC 8414, section 3.3).
    if (!isSame)
      throw unusable('issuer must equal the issuer in its metadata: compare the host, the path and the trailing slash')
    // The hosts of these endpoints ask for a certificate (RFC 8705, section 5).
    const aliases = hasCertificate ? (memberOf(metadata, 'mtls_endpoint_aliases') as Members | undefined) : undefined
    const endpoint = (name: string) => {
      const value = memberOf(aliases, name) ?? memberOf(metadata, name)
      if (value === undefined) return undefined
      const url = typeof value === 'string' ? parsedUrl(value) : undefined
      if (url && !url.username && !url.password && mayCarrySecrets(url, allowInsecureHttp)) return url
      throw unusable(`${name} in the metadata of issuer must be an https URL`)
    }
    const tokenEndpoint = endpoint('token_endpoint')
    if (!tokenEndpoint) throw unusable('the metadata of issuer have no token_endpoint: set tokenEndpoint')
    return {
      tokenEndpoint,
      revocationEndpoint: revocationEndpoint ?? endpoint('revocation_endpoint'),
      issuer: String(issuer),
    }
  }
}

/** RFC 8414, section 3.1, inserts the well-known path before the path of the issuer; OpenID Connect Discovery, section 4, appends it. */
function metadataAddresses({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '')
  return [
    new URL(`${origin}/.well-known/oauth-authorization-server${path}`),
    new URL(`${origin}${path}/.well-known/openid-configuration`),
  ]
}

/** @param why Must not quote the metadata. */
function unusable(why: string): TokenError {
  return new TokenError('ERR_TOKEN_REQUEST', `No token request was sent: ${why}`, { outcome: 'not-sent' })
}
