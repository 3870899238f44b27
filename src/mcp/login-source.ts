import { isTokenError, TokenError } from '../core/errors.ts'
import { quietly } from '../core/thrown.ts'
import type { ExchangeContext, LoginSource, TokenSource } from '../core/token-source.ts'
import { person } from '../login/person.ts'
import { oauth2 } from '../oauth2/index.ts'
import type { CheckedProvider } from './auth-provider.ts'
import type { Discovery } from './discovery.ts'
import { contextIn, contextText, type LoginContext, unknownContext } from './login-context.ts'

export interface LoginSourceOptions {
  readonly id: string
  readonly account: string
  readonly provider: CheckedProvider
  readonly discovery: Discovery
  readonly allowInsecureHttp: boolean
}

/** A source whose server and client come with the tokens: the process that refreshes need not be the one that logged in. */
export function loginSource(options: LoginSourceOptions): LoginSource {
  const { id, provider, discovery } = options
  let last: { readonly text: string | undefined; readonly context: string; readonly source: TokenSource } | undefined
  /** The server may have to be found first. */
  const sourceFor = async (about: ExchangeContext) => {
    if (last && last.text === about.context) return last
    let context = contextIn(about.context)
    if (context.tokenEndpoint === undefined && context.clientId) {
      about.waitsFor?.('The metadata of the MCP server')
      context = await discovery.found(context, about)
      about.waitsFor?.(undefined)
    }
    return (last = { text: about.context, context: contextText(context), source: sourceOf(context, options) })
  }
  return {
    id,
    login: person,
    obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', LOG_IN, { outcome: 'not-sent' })),
    async refresh(refreshToken, about) {
      try {
        const { source, context } = await sourceFor(about)
        return { ...(await (source as Required<TokenSource>).refresh(refreshToken, about)), context }
      } catch (error) {
        // Otherwise the SDK would open its page for a client that the server no longer knows.
        if (isTokenError(error) && error.serviceCode === 'invalid_client')
          await provider.invalidateCredentials?.('client')
        throw error
      }
    },
    async revoke(tokens, about) {
      const { source } = await sourceFor(about)
      if (!source.revoke) throw new TokenError('ERR_TOKEN_REQUEST', NO_REVOCATION, NO_ENDPOINT)
      await source.revoke(tokens, about)
    },
  }
}

/** @throws {TokenError} if nobody could refresh tokens of this context. */
function sourceOf(context: LoginContext, { account, provider, allowInsecureHttp }: LoginSourceOptions): TokenSource {
  const { clientId, clientSecret, clientAuthentication, resource } = context
  const { tokenEndpoint = '', revocationEndpoint, issuer = '' } = context
  const write = provider.addClientAuthentication?.bind(provider)
  const authentication = write
    ? {
        clientAuthentication: (_as: object, _client: object, body: URLSearchParams, headers: Headers) =>
          write(headers, body, tokenEndpoint, { issuer, token_endpoint: tokenEndpoint }),
      }
    : { clientSecret: clientAuthentication === 'none' ? undefined : clientSecret, clientAuthentication }
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
  return source
}

const LOG_IN = 'A person must log in: connect a client with the transport options of mcpLogin(), and let its SDK log in'
const NO_REVOCATION = 'The metadata of the authorization server name no revocation_endpoint'
const NO_ENDPOINT = { outcome: 'not-sent', revocation: 'no-endpoint' } as const
