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

interface KnownOfLogin {
  readonly issuer: unknown
  readonly metadataUrl: string | undefined
  readonly about: unknown
}

/** Finds the client of a login, and the server that issued its tokens. */
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
   * The context of a login that the SDK has just made: by what the SDK has discovered, or, if the provider does not keep that, by our own discovery. If the
   * server cannot be found now, its first refresh finds it: the tokens cannot be had again.
   *
   * @param known `issuer`: with which the SDK marked the tokens; older SDKs do not. `about`: what the SDK gave to `saveTokens` beside the tokens.
   */
  async contextOf(known: KnownOfLogin, exchange: ExchangeContext): Promise<LoginContext> {
    const { about, metadataUrl } = known
    const issuer = textIn(known, 'issuer')
    const client = await this.#provider.clientInformation(about)
    const clientId = textIn(client, 'client_id')
    if (clientId === undefined)
      throw new TypeError('provider.clientInformation must give the client that the tokens were issued to')
    const [clientSecret, authMethod] = [textIn(client, 'client_secret'), textIn(client, 'token_endpoint_auth_method')]
    const login = { clientId, clientSecret, authMethod, issuer, metadataUrl }
    const kept = await this.#provider.discoveryState?.()
    if (isFound(kept) && isOf(kept, issuer)) return this.#completed(login, kept)
    return this.found(login, exchange).catch((error: unknown) => {
      if (isTokenError(error) && error.message !== OTHER_ISSUER) return login
      throw error
    })
  }

  /** @throws {TokenError} if the server cannot be found now, or is another one. Nothing was sent then. */
  async found(login: LoginContext, exchange: ExchangeContext): Promise<LoginContext> {
    const { metadataUrl, issuer } = login
    return this.#completed(login, await serverOf({ url: this.#url, metadataUrl, issuer }, this.#calls, exchange))
  }

  async #completed({ clientId, clientSecret, authMethod }: LoginContext, server: FoundServer): Promise<LoginContext> {
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = server
    const advertised = textIn(resourceMetadata, 'resource')
    const choose = this.#provider.validateResourceURL?.bind(this.#provider)
    return {
      clientId,
      clientSecret,
      clientAuthentication: authenticationFor(clientSecret, authMethod, metadata),
      issuer: textIn(metadata, 'issuer') ?? authorizationServerUrl,
      // Without metadata the SDK takes this address, too.
      tokenEndpoint: textIn(metadata, 'token_endpoint') ?? new URL('/token', authorizationServerUrl).href,
      revocationEndpoint: textIn(metadata, 'revocation_endpoint'),
      resource: choose ? parsedUrl(String(await choose(this.#url.href, advertised)))?.href : advertised,
    }
  }
}

/** Whether the SDK has kept a server in `discoveryState`. */
function isFound(state: unknown): state is FoundServer {
  return parsedUrl(textIn(state, 'authorizationServerUrl') ?? '') !== undefined
}

/** Whether this is the server that issued the tokens: the provider may have kept that of an earlier login. */
function isOf({ authorizationServerUrl, authorizationServerMetadata }: FoundServer, issuer: string | undefined) {
  const names = [authorizationServerUrl, textIn(authorizationServerMetadata, 'issuer')]
  return issuer === undefined || names.some((name) => isSameIssuer(name, issuer))
}

function textIn(holder: unknown, name: string): string | undefined {
  const text = member(holder, name)
  return typeof text === 'string' && text !== '' ? text : undefined
}
