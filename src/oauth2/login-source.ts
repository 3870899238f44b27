import { isTokenError, TokenError } from '../core/errors.ts'
import { quietly } from '../core/thrown.ts'
import { type ExchangeContext, internalOf, type LoginSource, type TokenSource } from '../core/token-source.ts'
import { person } from '../login/person.ts'
import { contextIn, contextText, type LoginContext, unknownContext } from './login-context.ts'
import { oauth2Source } from './oauth2.ts'

export interface LoginSourceOptions {
  readonly id: string
  readonly account: string
  readonly allowInsecureHttp: boolean
  /** The option that leads to the server, for messages. */
  readonly option: string
  /** How a user logs in, for messages. */
  readonly logIn: string
  /** Finds the server of a login whose context has none. @throws {TokenError} No token request was sent then. */
  readonly findServer: (context: LoginContext, exchange: ExchangeContext) => Promise<LoginContext>
  /** Called when the server no longer knows the client of a login. */
  readonly onUnknownClient: () => unknown
  /** Authenticates the client, instead of its secret. */
  readonly write?: ((...given: [Headers, URLSearchParams, string, object]) => void | Promise<void>) | undefined
}

/** A source whose server and client are stored with the tokens, as their `context`, so that any process can refresh. */
export function loginSource(options: LoginSourceOptions): LoginSource {
  const { id, logIn, findServer, onUnknownClient } = options
  let last: { readonly text: string | undefined; readonly context: string; readonly source: TokenSource } | undefined
  const sourceFor = async (about: ExchangeContext) => {
    if (last && last.text === about.context) return last
    let context = contextIn(about.context, logIn)
    if (context.tokenEndpoint === undefined && context.clientId) {
      const { waitsFor } = internalOf(about)
      waitsFor?.('The metadata of the server')
      context = await findServer(context, about)
      waitsFor?.(undefined)
    }
    return (last = { text: about.context, context: contextText(context), source: sourceOf(context, options) })
  }
  return {
    id,
    login: person,
    resources: true,
    obtain: () =>
      Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', `The user must ${logIn}`, { outcome: 'not-sent' })),
    async refresh(refreshToken, about) {
      try {
        const { source, context } = await sourceFor(about)
        return { ...(await (source as Required<TokenSource>).refresh(refreshToken, about)), context }
      } catch (error) {
        if (isTokenError(error) && error.serviceCode === 'invalid_client') await onUnknownClient()
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

/** @throws {TokenError} if tokens with this context cannot be refreshed. */
function sourceOf(
  context: LoginContext,
  { account, write, allowInsecureHttp, logIn, option }: LoginSourceOptions,
): TokenSource {
  const { clientId, clientSecret, clientAuthentication, resource, scope } = context
  const { tokenEndpoint = '', revocationEndpoint, issuer = '' } = context
  const authentication = write
    ? {
        clientAuthentication: (_as: object, _client: object, body: URLSearchParams, headers: Headers) =>
          write(headers, body, tokenEndpoint, { issuer, token_endpoint: tokenEndpoint }),
      }
    : { clientSecret: clientAuthentication === 'none' ? undefined : clientSecret, clientAuthentication }
  const source = quietly(() =>
    oauth2Source(
      {
        ...{ tokenEndpoint, revocationEndpoint, issuer, clientId, account, allowInsecureHttp, grant: 'login' },
        ...authentication,
        ...(resource !== undefined && { parameters: { resource } }),
        // Some servers require the granted scope in each refresh (Microsoft Entra), and RFC 6749, section 6, allows it (F407).
        scope: scope?.split(' '),
        // The client belongs to the login. If the server no longer knows the client, no refresh can succeed.
        errors: { invalid_client: 'invalid_grant' },
      },
      option,
    ),
  )
  if (!source) throw unknownContext(logIn)
  return source
}

const NO_REVOCATION = 'The metadata of the authorization server name no revocation_endpoint'
const NO_ENDPOINT = { outcome: 'not-sent', revocation: 'no-endpoint' } as const
