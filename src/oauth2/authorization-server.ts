import { isTokenError, TokenError } from '../core/errors.ts'
import { mayCarrySecrets, parsedUrl } from '../core/secure-origin.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import type { TokenCalls } from '../wire/token-call.ts'
import { memberOf, type Members } from './document.ts'
import { metadataAt } from './metadata.ts'
import type { ServerAddresses } from './oauth2-settings.ts'

/** The endpoints of a server, and its issuer identifier. */
export interface Endpoints {
  readonly tokenEndpoint: URL
  readonly revocationEndpoint: URL | undefined
  readonly issuer: string
}

const DAY_MS = 86_400_000
/** If a refetch of the metadata fails, the old ones are used this much longer. */
const GRACE_MS = 300_000

/** The endpoints of one authorization server: those of the options, or those of its metadata. */
export class AuthorizationServer {
  readonly #addresses: ServerAddresses
  readonly #calls: TokenCalls
  #discovered: Endpoints | undefined
  /** When the metadata are fetched again, monotonic ms. */
  #refreshAt = 0

  constructor(addresses: ServerAddresses, calls: TokenCalls) {
    this.#addresses = addresses
    this.#calls = calls
  }

  /** The server in the id of a source. */
  get name(): string {
    const { tokenEndpoint, issuer } = this.#addresses
    return tokenEndpoint?.href ?? String(issuer)
  }

  /** Whether tokens can be revoked. True if only the metadata can tell. */
  get mayRevoke(): boolean {
    const { tokenEndpoint, revocationEndpoint } = this.#addresses
    return !tokenEndpoint || revocationEndpoint !== undefined
  }

  forget(): void {
    this.#discovered = undefined
  }

  /** @throws {TokenError} if the metadata could not be fetched or are unusable. No token request was sent then, so the refresh token is intact. */
  async endpoints(context: ExchangeContext): Promise<Endpoints> {
    const { tokenEndpoint, revocationEndpoint, issuer } = this.#addresses
    if (tokenEndpoint) return { tokenEndpoint, revocationEndpoint, issuer: String(issuer ?? tokenEndpoint.href) }
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
    for (const url of metadataAddresses(new URL(String(this.#addresses.issuer)))) {
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
    const { issuer: expected, revocationEndpoint, allowInsecureHttp, hasCertificate } = this.#addresses
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

/** RFC 8414, section 3.1, inserts its path before that of the issuer; OpenID Connect Discovery, section 4, appends it. */
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
