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

export function loginSource({ id, account, provider, allowInsecureHttp }: LoginSourceOptions): LoginSource {
  let last: { readonly context: string; readonly source: TokenSource } | undefined

  function sourceFor(context = ''): TokenSource {
    if (last?.context === context) return last.source
    const { tokenEndpoint, revocationEndpoint, issuer, clientId, clientSecret, ...rest } = contextIn(context)
    const { clientAuthentication, resource } = rest
    const write = provider.addClientAuthentication
    const authentication = write
      ? {
          clientAuthentication: (_as: object, _client: object, body: URLSearchParams, headers: Headers) =>
            write.call(provider, headers, body, tokenEndpoint, { issuer, token_endpoint: tokenEndpoint }),
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
    last = { context, source }
    return source
  }

  return {
    id,
    needsLogin: true,
    check: (context) => void sourceFor(context),
    obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', LOG_IN, { outcome: 'not-sent' })),
    async refresh(refreshToken, about) {
      try {
        return await (sourceFor(about.context) as Required<TokenSource>).refresh(refreshToken, about)
      } catch (error) {
        // Otherwise the SDK would open its page for a client that the server no longer knows.
        if (isTokenError(error) && error.serviceCode === 'invalid_client')
          await provider.invalidateCredentials?.('client')
        throw error
      }
    },
    async revoke(tokens, about) {
      const source = sourceFor(about.context)
      if (!source.revoke) throw new TokenError('ERR_TOKEN_REQUEST', NO_REVOCATION, { outcome: 'not-sent' })
      await source.revoke(tokens, about)
    },
  }
}

const LOG_IN = 'A person must log in: connect a client with the transport options of mcpLogin(), and let its SDK log in'
const NO_REVOCATION = 'The metadata of the authorization server name no revocation_endpoint'
