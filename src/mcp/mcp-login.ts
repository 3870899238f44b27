import { codeOf } from '../core/login-port.ts'
import type { TokenManagerOptions } from '../core/manager-options.ts'
import { asGiven, checkedFlag, checkedName, checkFunction, type Readers, readOptions } from '../core/option-checks.ts'
import { checkedSecureUrl } from '../core/secure-origin.ts'
import { member } from '../core/thrown.ts'
import { checkRuntime } from '../core/own-runtime.ts'
import { Manager } from '../core/manager.ts'
import type { LoginManager } from '../core/token-manager.ts'
import { type AdoptedGrant, INTERNAL, type LoginSource } from '../core/token-source.ts'
import type { TokenStore } from '../core/token-store.ts'
import { OnePage } from '../login/one-page.ts'
import { person } from '../login/person.ts'
import { fromTokenResponse } from '../oauth2/index.ts'
import { contextText } from '../oauth2/login-context.ts'
import { loginSource, type LoginSourceOptions } from '../oauth2/login-source.ts'
import { toTokenError } from '../wire/to-token-error.ts'
import { authProviderOf, type CheckedProvider, checkedProvider } from './auth-provider.ts'
import { Discovery } from './discovery.ts'
import { ownInternals, ServerCalls } from './server-calls.ts'

export interface McpLoginOptions {
  /** The address of the MCP server, the same as for the transport. */
  serverUrl: string | URL
  /** The `authProvider` that you would pass to the transport. Its `tokens` and `saveTokens` are not called. */
  provider: McpAuthProvider
  /** Where the login is stored. Default: the memory of this process. */
  store?: TokenStore | undefined
  /** Distinguishes several logins to this server. Default `default`. */
  account?: string | undefined
  /** Sends the requests to the server and those of discovery. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined
  /** As for `createTokenManager`. */
  manager?: Pick<TokenManagerOptions, 'renewal' | 'retry' | 'exchangeTimeoutMs' | 'clock' | 'random'> | undefined
  /** Send tokens over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
}

/** The `OAuthClientProvider` of the SDK, checked by its shape, so that no SDK is required. */
export type McpAuthProvider = object

export interface McpLogin {
  /** Spread this into the second argument of a transport. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each SDK has a type of its own for it
  readonly transport: { readonly authProvider: any; readonly fetch: typeof fetch }
  /** The manager of the login: its events, `status()`, `logout()`. */
  readonly tokens: LoginManager
  /** Closes the token manager. The login stays in the store. */
  close(): Promise<void>
}

/** The manager checks these itself. */
const MANAGER: Readers<NonNullable<McpLoginOptions['manager']>> = {
  renewal: asGiven,
  retry: asGiven,
  exchangeTimeoutMs: asGiven,
  clock: asGiven,
  random: asGiven,
}

const OPTIONS = {
  serverUrl: asGiven,
  provider: asGiven,
  store: (_, given) => given as TokenStore | undefined,
  account: (name, given = 'default') => checkedName(name, given),
  fetch: fetching,
  manager: (name, given = {}) => readOptions(name, given as object, MANAGER),
  allowInsecureHttp: checkedFlag,
} satisfies Readers<McpLoginOptions>

function fetching(name: string, given: unknown = (...call: Parameters<typeof fetch>) => fetch(...call)): typeof fetch {
  checkFunction(name, given)
  return given as typeof fetch
}

const LOG_IN = 'log in through a transport of mcpLogin(): connect a client with its options, and let the SDK log in'

/**
 * The login of one MCP server, for the transports of `@modelcontextprotocol/sdk` 1.x and `@modelcontextprotocol/client` 2.x, shared by all processes that
 * open the same store. The SDK logs in (discovery, registration, PKCE, step-up). The manager keeps the login: all processes share one refresh, and an
 * unknown outcome of a refresh does not end the login. Only requests to `serverUrl`, and to addresses that the server announces within its
 * origin, carry the token. While there is a login but no token, these requests reject with a `TokenError`. Without a login they are sent without a token, and
 * the 401 makes the SDK log in.
 *
 * @example
 * ```ts
 * import { mcpLogin } from 'axios-evergreen/mcp'
 *
 * const login = mcpLogin({ serverUrl: 'https://tools.example.com/mcp', provider })
 * const options = login.transport // new StreamableHTTPClientTransport(url, options)
 * ```
 * @throws {TypeError | RangeError} naming the option.
 */
export function mcpLogin(options: McpLoginOptions): McpLogin {
  const { account, allowInsecureHttp, fetch, manager: managed, provider, serverUrl, store } = settingsOf(options)
  const discovery = new Discovery(provider, serverUrl, fetch)
  const id = `mcp ${JSON.stringify([serverUrl.href, account])}`
  const source = sourceOf(provider, discovery, { id, account, allowInsecureHttp })
  // createTokenManager is not used, because the bundler would put it into a shared file, which each program would load.
  checkRuntime()
  const managing = { ...managed, source, ...(store !== undefined && { store }) }
  const tokens = new Manager(managing, toTokenError, codeOf(person))
  const page: OnePage = new OnePage(tokens, store, id, () => forget())
  const calls = new ServerCalls(fetch, tokens, serverUrl, page)

  /** @param about See `Discovery`. */
  const granted = (response: unknown, about: unknown) => {
    const { exchangeTimeoutMs: limitMs = 10_000 } = managed
    const exchange = {
      clock: ownInternals(tokens).clock,
      signal: new AbortController().signal,
      [INTERNAL]: { limitMs },
    }
    return grantWithContext(response, { metadataUrl: calls.metadataUrl, about }, discovery, exchange)
  }
  const { authProvider, forget } = authProviderOf(provider, page, {
    async tokens() {
      const token = await calls.handOut()
      return token === undefined ? undefined : { access_token: token, token_type: 'Bearer' }
    },
    async saveTokens(response: unknown, about: unknown) {
      // A host may save the token that it received from tokens(), which has no refresh token.
      if (calls.isHandedOut(member(response, 'access_token'))) return
      await tokens.adopt(granted(response, about))
      await page.end()
    },
  })

  return Object.freeze({
    transport: Object.freeze({ authProvider, fetch: calls.fetch }),
    tokens,
    close() {
      page.close()
      return tokens.close()
    },
  })
}

function settingsOf(options: McpLoginOptions) {
  const own = readOptions('The options of mcpLogin', options, OPTIONS, '')
  const serverUrl = checkedSecureUrl('serverUrl', own.serverUrl, own.allowInsecureHttp)
  if (serverUrl.href.includes('#')) throw new TypeError('serverUrl must have no fragment: the server never receives it')
  return { ...own, serverUrl, provider: checkedProvider(own.provider) }
}

function sourceOf(
  provider: CheckedProvider,
  discovery: Discovery,
  named: Pick<LoginSourceOptions, 'id' | 'account' | 'allowInsecureHttp'>,
): LoginSource {
  return loginSource({
    ...{ ...named, logIn: LOG_IN, option: 'serverUrl' },
    findServer: (context, exchange) => discovery.found(context, exchange),
    // Otherwise the SDK would open the login page for a client that the server no longer knows.
    onUnknownClient: () => provider.invalidateCredentials?.('client'),
    write: provider.addClientAuthentication?.bind(provider),
  })
}

/** The tokens of a login of the SDK, with their context. */
async function grantWithContext(
  response: unknown,
  found: Pick<Parameters<Discovery['contextOf']>[0], 'metadataUrl' | 'about'>,
  discovery: Discovery,
  exchange: Parameters<Discovery['contextOf']>[1],
): Promise<AdoptedGrant> {
  const grant = fromTokenResponse(response as Record<string, unknown>)
  const [issuer, scope] = [member(response, 'issuer'), member(response, 'scope')]
  const context = await discovery.contextOf({ issuer, scope, ...found }, exchange)
  return { ...grant, context: contextText(context) }
}
