import { remedyOf } from '../client/challenges.ts'
import { deliver } from '../client/bearer-request.ts'
import { accessTo, type TokenAccess } from '../client/token-access.ts'
import { checkNotAborted } from '../core/deadline.ts'
import { copyForCaller, isTokenError, TokenError } from '../core/errors.ts'
import { foreignSocket } from '../core/foreign-socket.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import type { LoginManager } from '../core/token-manager.ts'
import { type Given, type Init, inputOf, memberOfCall, membersOf, urlOf, withLastingHeaders } from '../fetch/call.ts'
import {
  type CallSnapshot,
  snapshotCall,
  copyOfInit,
  discard,
  isRepeatable,
  ownInput,
  replayInputOf,
} from '../fetch/call-snapshot.ts'
import { FetchRequest } from '../fetch/sending.ts'
import type { OnePage } from '../login/one-page.ts'
import { observeEndpoint } from './announced-endpoint.ts'

type Fetch = (input: unknown, init?: RequestInit) => Promise<Response>

/** How many announced addresses, and how many tokens handed out to hosts, are kept: the newest ones. */
const MAX_KEPT = 8

/** A snapshot of one request to the server. */
interface McpRequest extends CallSnapshot {
  readonly at: URL
  readonly isRepeatable: boolean
  readonly signal: AbortSignal | undefined
  /** The login generation at its start. Undefined: there was no login, so it belongs to the first login whose token it carries. */
  startGeneration: number | undefined
  /** The token that it was last sent with. */
  token: string
}

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
    this.#access = accessTo(tokens)
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
    const signal = memberOfCall(input, init, 'signal') ?? undefined
    const startGeneration = this.#tokens.status().login === 'present' ? this.#access.currentGeneration?.() : undefined
    const request = {
      ...call,
      input: ownInput(call),
      at,
      isRepeatable: isRepeatable(call),
      signal,
      startGeneration,
      token: '',
    }
    try {
      return await this.#send(request)
    } catch (error) {
      throw isTokenError(error) ? copyForCaller(this.fetch, error) : error
    } finally {
      // Only copies were sent.
      if (request.isRepeatable && typeof request.input === 'object') discard(request.input.body)
    }
  }

  /** Sends a request of the SDK for its login. If that fails before the page opens, another program may open one. */
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
    if (this.#isUsed || !(await this.#mayHaveToken())) return undefined
    const token = await this.#unlessEnded(this.#tokens.getAccessToken())
    if (token !== undefined && !this.isHandedOut(token))
      this.#handedOut = [token, ...this.#handedOut].slice(0, MAX_KEPT)
    return token
  }

  isHandedOut(token: unknown): boolean {
    return this.#handedOut.includes(token as string)
  }

  async #send(request: McpRequest): Promise<Response> {
    const { clock, firstGeneration, maxWaitMs } = this.#access
    let leftMs = maxWaitMs
    for (;;) {
      const startedAt = clock.monotonicNow()
      const mayHaveToken = await this.#mayHaveToken()
      // A request of one login must not carry a token of another one (R10).
      if (request.startGeneration !== undefined && request.startGeneration < firstGeneration()) throw loginEnded()
      request.token = ''
      let response = mayHaveToken ? await this.#unlessEnded(this.#sendWithToken(request)) : undefined
      leftMs -= response ? 0 : clock.monotonicNow() - startedAt
      response ??= await this.#sendOnce(request, copyOf(request))
      if (!isRejected(request, response)) return response
      const retries = request.token === '' ? this.#loginCompleted(request, leftMs) : this.#replaced(request)
      if (!(await retries)) return response
      discard(response.body)
    }
  }

  /** Whether a token may be available. Otherwise a renewal would only fail and report that. */
  async #mayHaveToken(): Promise<boolean> {
    if (this.#tokens.status().login !== 'present') await this.#page.check()
    const { login, phase, renewing } = this.#tokens.status()
    return login !== 'required' || renewing || phase === 'closed'
  }

  #sendWithToken(request: McpRequest): Promise<Response> {
    const text = (token: string) => {
      request.startGeneration ??= this.#access.firstGeneration()
      request.token = token
      return `Bearer ${token}`
    }
    const bearer = { header: 'Authorization', name: 'authorization', text, refuses: isUnauthorized }
    const send: Fetch = (input, init) => this.#sendOnce(request, { input, init })
    return deliver(new FetchRequest(send, { access: this.#access, ...bearer }, request.at.origin, copyOf(request)))
  }

  async #sendOnce({ at }: McpRequest, { input, init }: { input: unknown; init?: Init | undefined }): Promise<Response> {
    const response = await this.#fetch(input, init)
    this.#learn(at, response)
    return observeEndpoint(response, (address) => this.#announce(at, address))
  }

  /** Replaces the rejected token. @returns False: this request starts the login. */
  async #replaced({ token, signal }: McpRequest): Promise<boolean> {
    if (await this.#unlessEnded(this.#tokens.replaceAccessToken(token, { signal }))) return true
    if (await this.#page.opens()) return false
    // The pending login may be that of another user.
    throw loginEnded()
  }

  /** Waits for the pending login. @returns False: this request starts the login. */
  async #loginCompleted({ signal }: McpRequest, leftMs: number): Promise<boolean> {
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

  /** @returns Undefined if a login is required. While there is a login, the caller gets its errors: a 401 would open a login page needlessly. */
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

/** A copy for one attempt, whose body may be consumed. */
function copyOf(request: McpRequest): CallSnapshot {
  const { isRepeatable, input, init } = request
  return { ...request, input: isRepeatable ? replayInputOf(request) : input, init: copyOfInit(init) }
}

const isUnauthorized = ({ status }: Response) => status === 401

/** Whether the request can be sent again with another token. A response of another origin is not about the token. */
function isRejected({ at, isRepeatable, token }: McpRequest, { status, redirected, url, headers }: Response): boolean {
  if (status !== 401 || !isRepeatable || (redirected && parsedUrl(url)?.origin !== at.origin)) return false
  return token === '' || remedyOf(headers.get('www-authenticate')) === 'another-token'
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
