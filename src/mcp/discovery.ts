import { isTokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import { member } from '../core/thrown.ts'
import type { ExchangeContext } from '../core/token-source.ts'
import { authenticationFor } from '../oauth2/client-authentication.ts'
import type { LoginContext } from '../oauth2/login-context.ts'
import { type FoundServer, isSameIssuer, OTHER_ISSUER, serverOf } from '../oauth2/protected-resource.ts'
import { fetchAdapter } from '../wire/fetch-adapter.ts'
import { TokenCalls } from '../wire/token-call.ts'
import type { CheckedProvider } from './auth-provider.ts'

interface LoginFacts {
  readonly issuer: unknown
  readonly scope?: unknown
  readonly metadataUrl: string | undefined
  readonly about: unknown
}

/** Finds the client and the authorization server of a login. */
export class Discovery {
  readonly #provider: CheckedProvider
  readonly #url: URL
  readonly #calls: TokenCalls

  constructor(provider: CheckedProvider, url: URL, fetch: typeof globalThis.fetch) {
    this.#provider = provider
    this.#url = url
    this.#calls = new TokenCalls({ adapter: fetchAdapter(fetch) })
  }

  /**
   * The context of a login that the SDK has just completed. Uses the discovery state that the provider keeps, or a discovery of its own if there is none
   * for this issuer. If that discovery fails, the first refresh discovers the server: the tokens must not be lost, because they cannot be issued again.
   *
   * @param known `issuer`: the one that the SDK stored with the tokens; older SDKs store none. `scope`: the one of the token response. `about`: the second argument of `saveTokens`.
   * @throws {TokenError} if the server names another issuer.
   */
  async contextOf(known: LoginFacts, exchange: ExchangeContext): Promise<LoginContext> {
    const { about, metadataUrl } = known
    const issuer = textIn(known, 'issuer')
    const client = await this.#provider.clientInformation(about)
    const clientId = textIn(client, 'client_id')
    if (clientId === undefined)
      throw new TypeError('provider.clientInformation must return the client that the tokens were issued to')
    const [clientSecret, authMethod] = [textIn(client, 'client_secret'), textIn(client, 'token_endpoint_auth_method')]
    const scope = grantedScope(known.scope)
    const login = { clientId, clientSecret, authMethod, issuer, metadataUrl, scope }
    const kept = await this.#provider.discoveryState?.()
    if (isFound(kept) && isIssuedBy(kept, issuer)) return this.#contextFrom(login, kept)
    return this.found(login, exchange).catch((error: unknown) => {
      if (isTokenError(error) && error.message !== OTHER_ISSUER) return login
      throw error
    })
  }

  /** @throws {TokenError} if discovery fails, or finds another issuer. No token request was sent then. */
  async found(login: LoginContext, exchange: ExchangeContext): Promise<LoginContext> {
    const { metadataUrl, issuer } = login
    return this.#contextFrom(login, await serverOf({ url: this.#url, metadataUrl, issuer }, this.#calls, exchange))
  }

  async #contextFrom(
    { clientId, clientSecret, authMethod, scope }: LoginContext,
    server: FoundServer,
  ): Promise<LoginContext> {
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = server
    const advertised = textIn(resourceMetadata, 'resource')
    const choose = this.#provider.validateResourceURL?.bind(this.#provider)
    return {
      clientId,
      clientSecret,
      scope,
      clientAuthentication: authenticationFor(clientSecret, authMethod, metadata),
      issuer: textIn(metadata, 'issuer') ?? authorizationServerUrl,
      // The SDK has the same default for servers without metadata.
      tokenEndpoint: textIn(metadata, 'token_endpoint') ?? new URL('/token', authorizationServerUrl).href,
      revocationEndpoint: textIn(metadata, 'revocation_endpoint'),
      resource: choose ? parsedUrl(String(await choose(this.#url.href, advertised)))?.href : advertised,
    }
  }
}

/** Whether `discoveryState` contains a server. */
function isFound(state: unknown): state is FoundServer {
  return parsedUrl(textIn(state, 'authorizationServerUrl') ?? '') !== undefined
}

/** Whether this server issued the tokens. The provider may still have the server of an earlier login. */
function isIssuedBy({ authorizationServerUrl, authorizationServerMetadata }: FoundServer, issuer: string | undefined) {
  const names = [authorizationServerUrl, textIn(authorizationServerMetadata, 'issuer')]
  return issuer === undefined || names.some((name) => isSameIssuer(name, issuer))
}

/** @returns The scope of a token response, unless it contains characters that are not allowed in a scope (RFC 6749, section 3.3). */
function grantedScope(scope: unknown): string | undefined {
  return typeof scope === 'string' && /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(scope) ? scope : undefined
}

function textIn(holder: unknown, name: string): string | undefined {
  const text = member(holder, name)
  return typeof text === 'string' && text !== '' ? text : undefined
}
