import { isTokenError, TokenError } from '../core/errors.ts'
import { quietly } from '../core/thrown.ts'
import type { TokenSource } from '../core/token-source.ts'
import { oauth2 } from '../oauth2/index.ts'
import type { CheckedProvider } from './auth-provider.ts'
import { contextIn, unknownContext } from './login-context.ts'

export interface LoginSourceOptions {
  readonly id: string
  readonly account: string
  readonly provider: CheckedProvider
  readonly allowInsecureHttp: boolean
}

/** A source whose server and client come with the tokens: the process that refreshes need not be the one that logged in. */
export interface LoginSource extends TokenSource {
  /** @throws {TokenError} if tokens of this context could not be refreshed. */
  check(context: string): void
}

export function loginSource(options: LoginSourceOptions): LoginSource {
  const { id, provider } = options
  let last: { readonly context: string; readonly source: Required<TokenSource> } | undefined
  const sourceFor = (context = '') => {
    if (last?.context !== context) last = { context, source: sourceOf(context, options) }
    return last.source
  }
  return {
    id,
    needsLogin: true,
    check: (context) => void sourceFor(context),
    obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', LOG_IN, { outcome: 'not-sent' })),
    async refresh(refreshToken, about) {
      try {
        return await sourceFor(about.context).refresh(refreshToken, about)
      } catch (error) {
        // Otherwise the SDK would open its page for a client that the server no longer knows.
        if (isTokenError(error) && error.serviceCode === 'invalid_client')
          await provider.invalidateCredentials?.('client')
        throw error
      }
    },
    async revoke(tokens, about) {
      const source: TokenSource = sourceFor(about.context)
      if (!source.revoke) throw new TokenError('ERR_TOKEN_REQUEST', NO_REVOCATION, { outcome: 'not-sent' })
      await source.revoke(tokens, about)
    },
  }
}

/** @throws {TokenError} if nobody could refresh tokens of this context. */
function sourceOf(context: string, { account, provider, allowInsecureHttp }: LoginSourceOptions) {
  const { clientSecret, clientAuthentication, resource, ...server } = contextIn(context)
  const { tokenEndpoint, revocationEndpoint, issuer, clientId } = server
  const write = provider.addClientAuthentication?.bind(provider)
  const authentication = write
    ? {
        clientAuthentication: (_as: object, _client: object, body: URLSearchParams, headers: Headers) =>
          write(headers, body, tokenEndpoint, { issuer, token_endpoint: tokenEndpoint }),
      }
    : { clientSecret, clientAuthentication }
  const source = quietly(() =>
    oauth2({
      ...{ tokenEndpoint, revocationEndpoint, issuer, clientId, account, allowInsecureHttp, grant: 'login' },
      ...authentication,
      ...(resource !== undefined && { parameters: { resource } }),
      // The client belongs to the login. If the server no longer knows it, no refresh can succeed.
      errors: { invalid_client: 'invalid_grant' },
    }),
  )
  if (!source) throw unknownContext()
  return source as Required<TokenSource>
}

const LOG_IN = 'A person must log in: connect a client with the transport options of mcpLogin(), and let its SDK log in'
const NO_REVOCATION = 'The metadata of the authorization server name no revocation_endpoint'
