import { remedyOf } from '../client/challenges.ts'
import { isUnauthorized } from '../client/bearer-options.ts'
import { deliver } from '../client/bearer-request.ts'
import { generationAtSending } from '../client/origin-binding.ts'
import { accessToOwn, type TokenAccess } from '../client/token-access.ts'
import { checkNotAborted } from '../core/deadline.ts'
import { isTokenError, TokenError } from '../core/errors.ts'
import { foreignSocket } from '../core/foreign-socket.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import { internalsOf, type ManagerInternals } from '../core/manager-internals.ts'
import type { LoginManager } from '../core/token-manager.ts'
import type { WaitOptions } from '../core/waiting-room.ts'
import { type Given, inputOf, memberOfCall, membersOf, urlOf, withLastingHeaders } from '../fetch/call.ts'
import { snapshotCall } from '../fetch/call-snapshot.ts'
import { FetchRequest } from '../fetch/sending.ts'
import type { OnePage } from '../login/one-page.ts'
import { observeEndpoint } from './announced-endpoint.ts'

type Fetch = (input: unknown, init?: RequestInit) => Promise<Response>

/** Used instead of a token if there is no login. No token contains a space. A login without an access token has an empty token. */
const NONE = ' '
const HEADER = {
  header: 'Authorization',
  name: 'authorization',
  text: (token: string) => `Bearer ${token}`,
  refuses: isUnauthorized,
}

/** How many announced addresses, and how many tokens handed out to hosts, are kept: the newest ones. */
const MAX_KEPT = 8

/** Sends the requests to one MCP server. Only these carry the token of its login. */
export class ServerCalls {
  readonly #fetch: Fetch
  readonly #tokens: LoginManager
  readonly #access: TokenAccess
  readonly #page: OnePage
  /** Origin and path of the server, and the addresses that it announces within its origin. */
  readonly #own: string
  #announced: readonly string[] = []
  #isUsed = false
  #handedOut: readonly string[] = []
  /** `resource_metadata` of the last 401 (RFC 9728, section 5.1). */
  metadataUrl: string | undefined

  constructor(fetch: typeof globalThis.fetch, tokens: LoginManager, serverUrl: URL, page: OnePage) {
    this.#fetch = fetch as Fetch
    this.#tokens = tokens
    this.#access = this.#orNone(accessToOwn(tokens, ownInternals(tokens)))
    this.#page = page
    this.#own = addressOf(serverUrl)
  }

  readonly fetch = async (given: unknown, options?: Given): Promise<Response> => {
    const input = inputOf(given)
    const init = withLastingHeaders(options) ?? {}
    const at = urlOf(input)
    if (!at || ![this.#own, ...this.#announced].includes(addressOf(at)))
      return this.#sendForLogin(given, init, memberOfCall(input, init, 'method'))
    this.#isUsed = true
    const headers = new Headers(memberOfCall(input, init, 'headers'))
    const authorization = headers.get('authorization')
    if (authorization !== null && !this.isHandedOut(authorization.slice(7))) return this.#fetch(given, init)
    const socket = foreignSocket()
    if (socket !== undefined) throw new TypeError(socket)
    headers.delete('authorization')
    const call = snapshotCall(input, at.href, { ...membersOf(init), headers })
    const send: Fetch = (own, sent) => this.#sendOnce(at, own, sent)
    const request = new McpRequest(send, { access: this.#access, ...HEADER }, at.origin, call)
    request.calls = this
    // The request belongs to the first login whose token it carries.
    if (this.#tokens.status().login !== 'present') request.startGeneration = undefined
    return deliver(request)
  }

  /** Sends a request of the SDK for its login. If that fails before the login page opens, another program may open one. */
  async #sendForLogin(given: unknown, init: RequestInit, method = 'GET'): Promise<Response> {
    try {
      const response = await this.#fetch(given, init)
      const { status } = response
      // The SDK tries several addresses for metadata, and continues without them.
      const isDiscovery = /^get$/i.test(method)
      if (status >= (isDiscovery ? 500 : 400)) this.#page.failed(!isDiscovery && status <= 403)
      return response
    } catch (error) {
      this.#page.failed(false)
      throw error
    }
  }

  /** The access token for a host that sends its requests itself. @returns Undefined without a login, or if requests come through `fetch`. */
  async handOut(): Promise<string | undefined> {
    if (this.#isUsed) return undefined
    const token = await this.#token()
    if (token !== undefined && !this.isHandedOut(token))
      this.#handedOut = [token, ...this.#handedOut].slice(0, MAX_KEPT)
    return token
  }

  isHandedOut(token: unknown): boolean {
    return this.#handedOut.includes(token as string)
  }

  /** Returns no token where other clients reject because a login is required: the 401 then makes the SDK log in. */
  #orNone(access: TokenAccess): TokenAccess {
    return {
      ...access,
      // Before a request is sent, it checks whether another process has logged in.
      peek: () => undefined,
      get: async (limits) => (await this.#token(limits)) ?? NONE,
      // After a request without a token, `lastResort` decides.
      replace: (token, limits) => (token === NONE ? Promise.reject(loginEnded()) : access.replace(token, limits)),
      renewInBackground(token) {
        if (token !== NONE) access.renewInBackground(token)
      },
    }
  }

  /** @returns Undefined if there is no login. */
  async #token(limits?: WaitOptions): Promise<string | undefined> {
    if (this.#tokens.status().login !== 'present') await this.#page.check()
    const { login, phase, renewing } = this.#tokens.status()
    // A renewal would only fail, and report its failure.
    if (login === 'required' && !renewing && phase !== 'closed') return undefined
    return this.#unlessEnded(this.#tokens.getAccessToken(limits))
  }

  /** The token with which a rejected request is sent again. @returns Undefined: this request starts the login. */
  async lastResort({ token, signal }: McpRequest, leftMs: number): Promise<string | undefined> {
    if (token === NONE)
      return (await this.#loginCompleted(signal, leftMs)) ? this.#access.get({ signal, maxWaitMs: leftMs }) : undefined
    const next = await this.#unlessEnded(this.#tokens.replaceAccessToken(token, { signal }))
    if (next !== undefined || (await this.#page.opens())) return next
    // The pending login may be that of another user.
    throw loginEnded()
  }

  async #sendOnce(at: URL, input: unknown, init?: RequestInit): Promise<Response> {
    const response = await this.#fetch(input, init)
    this.#learn(at, response)
    return observeEndpoint(response, (address) => this.#announce(at, address))
  }

  /** Waits for the pending login. @returns False: this request starts the login. */
  async #loginCompleted(signal: AbortSignal | undefined, leftMs: number): Promise<boolean> {
    const { clock } = this.#access
    const endAt = clock.monotonicNow() + leftMs
    while (this.#tokens.status().login !== 'present') {
      if (await this.#page.opens()) return false
      const ms = endAt - clock.monotonicNow()
      if (ms <= 0) throw loginPending()
      await this.#page.news(ms, signal)
      checkNotAborted(signal)
    }
    return true
  }

  /** @returns Undefined if a login is required. While there is a login, the caller gets the errors: a 401 would open a login page needlessly. */
  async #unlessEnded<Value>(asked: Promise<Value>): Promise<Value | undefined> {
    try {
      return await asked
    } catch (error) {
      const { login } = this.#tokens.status()
      if (isTokenError(error, 'ERR_LOGIN_REQUIRED') && login !== 'present') return undefined
      if (isTokenError(error, 'ERR_WAIT_TIMEOUT') && (login === 'pending' || login === 'required')) throw loginPending()
      throw error
    }
  }

  /** The server announces another address. Only addresses of its origin get the token. */
  #announce(from: URL, to: string): void {
    const target = parsedUrl(to, from.href)
    const address = target && addressOf(target)
    if (target?.origin !== from.origin || address === undefined || address === this.#own) return
    this.#announced = [address, ...this.#announced.filter((one) => one !== address)].slice(0, MAX_KEPT)
  }

  #learn(at: URL, { status, headers }: Response): void {
    // The SDK follows redirects itself.
    if (status >= 300 && status < 400) this.#announce(at, headers.get('location') ?? '')
    if (status !== 401) return
    const named = /resource_metadata="?([^",\s]+)/.exec(headers.get('www-authenticate') ?? '')?.[1]
    this.metadataUrl = parsedUrl(named ?? '')?.href
  }
}

/** A request to the server, which may wait for a login page. */
class McpRequest extends FetchRequest {
  declare calls: ServerCalls

  override applyToken(): void {
    if (this.token === NONE) return
    this.startGeneration = this.generation ??= this.binding.access.firstGeneration()
    super.applyToken()
  }

  override async beforeSurface(response: Response): Promise<boolean> {
    const { access } = this.binding
    if (!this.isRepeatable(response) || remedyOf(this.headerOf(response, 'www-authenticate')) !== 'another-token')
      return false
    const next = await this.calls.lastResort(this, access.maxWaitMs - this.spentMs)
    if (next === undefined) return false
    // A request of one login must not carry a token of another one (R10).
    generationAtSending(this.binding, this.generation)
    this.token = next
    this.prepareReplay(response)
    return true
  }
}

/** @param tokens A manager of this copy of the package, which has all members. */
export function ownInternals(tokens: LoginManager) {
  return internalsOf(tokens) as ManagerInternals & Pick<TokenAccess, 'firstGeneration'>
}

function loginEnded(): TokenError {
  const message = 'The login of this request has ended: send it again after the next login, if it still applies'
  return new TokenError('ERR_LOGIN_REQUIRED', message)
}

function loginPending(): TokenError {
  const message = 'A login page is open, here or in another program: send the request again after the login'
  return new TokenError('ERR_LOGIN_REQUIRED', message)
}

function addressOf({ origin, pathname }: URL): string {
  return origin + pathname
}
