import { isTokenError, TokenError } from '../core/errors.ts'
import { checkedText } from '../core/option-checks.ts'
import { quietly } from '../core/thrown.ts'
import { type ExchangeContext, internalOf, type LoginSource, type TokenSource } from '../core/token-source.ts'
import { person } from '../login/person.ts'
import { contextIn, contextText, type LoginContext, unknownContext } from './login-context.ts'
import { OAuth2 } from './oauth2.ts'
import {
  checkedClient,
  checkedId,
  checkedScope,
  checkedServer,
  DEFAULT_LIFETIME_MS,
  type OAuth2Settings,
} from './source-settings.ts'

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
  /** Authenticates the client. Used instead of a secret. */
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
function sourceOf(context: LoginContext, options: LoginSourceOptions): TokenSource {
  const source = quietly(() => new OAuth2(settingsOf(context, options), options.option))
  if (!source) throw unknownContext(options.logIn)
  return source
}

/** @throws {TypeError} */
function settingsOf(context: LoginContext, { account, write, allowInsecureHttp }: LoginSourceOptions): OAuth2Settings {
  const { clientId, clientSecret, clientAuthentication, resource, scope } = context
  const { tokenEndpoint = '', revocationEndpoint, issuer = '' } = context
  const server = checkedServer({ tokenEndpoint, revocationEndpoint, issuer }, allowInsecureHttp)
  const authentication = write
    ? {
        clientAuthentication: (_as: object, _client: object, body: URLSearchParams, headers: Headers) =>
          write(headers, body, tokenEndpoint, { issuer, token_endpoint: tokenEndpoint }),
      }
    : { clientSecret: clientAuthentication === 'none' ? undefined : clientSecret, clientAuthentication }
  const client = checkedClient({ clientId: checkedId('clientId', clientId), ...authentication, grant: 'login' })
  return {
    server: () => server,
    client,
    isAuthenticated: client.method !== 'none',
    grant: 'login',
    members: undefined,
    account,
    isUnnamed: false,
    // Some servers require the granted scope in each refresh (Microsoft Entra), and RFC 6749, section 6, allows it (F407).
    scope: checkedScope(scope),
    parameters: resource === undefined ? [] : [['resource', checkedText('resource', resource)]],
    body: 'form',
    // The client belongs to the login. If the server no longer knows the client, no refresh can succeed.
    errors: { codes: { invalid_client: 'invalid_grant' } },
    refreshTokens: 'single-use',
    keepsRefreshToken: false,
    reuseGraceMs: 0,
    defaultLifetimeMs: DEFAULT_LIFETIME_MS,
  }
}

const NO_REVOCATION = 'The metadata of the authorization server name no revocation_endpoint'
const NO_ENDPOINT = { outcome: 'not-sent', revocation: 'no-endpoint' } as const
