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
import { overheard } from './announced.ts'

type Fetch = (input: unknown, init?: RequestInit) => Promise<Response>

/** Addresses beside the server's own; tokens that a host was given. The newest are kept. */
const MOST_KEPT = 8

/** One request to the server, as it was when it was called. */
interface Sending extends CallSnapshot {
  readonly at: URL
  readonly isRepeatable: boolean
  readonly signal: AbortSignal | undefined
  /** The mark under which it began. Undefined: without a login, so it belongs to the first one whose token it carries. */
  startGeneration: number | undefined
  /** With which it was sent last. */
  token: string
}

/** The requests to one MCP server. They carry the token of its login, and no other request does. */
export class ServerCalls {
  readonly #fetch: Fetch
  readonly #tokens: LoginManager
  readonly #access: TokenAccess
  readonly #page: OnePage
  /** Origin and path of the server, and of where the server leads its clients within its origin. */
  readonly #own: string
  #led: readonly string[] = []
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
    if (!at || ![this.#own, ...this.#led].includes(addressOf(at)))
      return this.#sentForLogin(given, init, memberOfCall(input, init, 'method'))
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
    const sending = {
      ...call,
      input: ownInput(call),
      at,
      isRepeatable: isRepeatable(call),
      signal,
      startGeneration: startGeneration,
      token: '',
    }
    try {
      return await this.#sent(sending)
    } catch (error) {
      throw isTokenError(error) ? copyForCaller(this.fetch, error) : error
    } finally {
      // Copies of it were sent.
      if (sending.isRepeatable && typeof sending.input === 'object') discard(sending.input.body)
    }
  }

  /** Sends what the SDK sends for its login. If that fails before the page opens, somebody else may try. */
  async #sentForLogin(given: unknown, init: RequestInit, method = 'GET'): Promise<Response> {
    try {
      const response = await this.#fetch(given, init)
      const { status } = response
      // The SDK asks several addresses for metadata, and goes on without them.
      const isQuestion = /^get$/i.test(method)
      if (status >= (isQuestion ? 500 : 400)) this.#page.failed(!isQuestion && status <= 403)
      return response
    } catch (error) {
      this.#page.failed(false)
      throw error
    }
  }

  /** The access token for a host that sends its requests by itself. @returns undefined if nobody has logged in, or if requests come here. */
  async handOut(): Promise<string | undefined> {
    if (this.#isUsed || !(await this.#mayHaveToken())) return undefined
    const token = await this.#unlessEnded(this.#tokens.getAccessToken())
    if (token !== undefined && !this.isHandedOut(token))
      this.#handedOut = [token, ...this.#handedOut].slice(0, MOST_KEPT)
    return token
  }

  isHandedOut(token: unknown): boolean {
    return this.#handedOut.includes(token as string)
  }

  async #sent(sending: Sending): Promise<Response> {
    const { clock, firstGeneration: firstGeneration, maxWaitMs } = this.#access
    let leftMs = maxWaitMs
    for (;;) {
      const startedAt = clock.monotonicNow()
      const mayHaveToken = await this.#mayHaveToken()
      // No request of one login gets a token of another one (R10).
      if (sending.startGeneration !== undefined && sending.startGeneration < firstGeneration()) throw ended()
      sending.token = ''
      let response = mayHaveToken ? await this.#unlessEnded(this.#sentWithToken(sending)) : undefined
      leftMs -= response ? 0 : clock.monotonicNow() - startedAt
      response ??= await this.#sentOnce(sending, copyOf(sending))
      if (!isRefused(sending, response)) return response
      const goesOn = sending.token === '' ? this.#loggedIn(sending, leftMs) : this.#replaced(sending)
      if (!(await goesOn)) return response
      discard(response.body)
    }
  }

  /** Whether a token may be had. Otherwise a renewal would fail, and report that. */
  async #mayHaveToken(): Promise<boolean> {
    if (this.#tokens.status().login !== 'present') await this.#page.check()
    const { login, phase, renewing } = this.#tokens.status()
    return login !== 'required' || renewing || phase === 'closed'
  }

  #sentWithToken(sending: Sending): Promise<Response> {
    const text = (token: string) => {
      sending.startGeneration ??= this.#access.firstGeneration()
      sending.token = token
      return `Bearer ${token}`
    }
    const bearer = { header: 'Authorization', name: 'authorization', text, refuses: isUnauthorized }
    const send: Fetch = (input, init) => this.#sentOnce(sending, { input, init })
    return deliver(new FetchRequest(send, { access: this.#access, ...bearer }, sending.at.origin, copyOf(sending)))
  }

  async #sentOnce({ at }: Sending, { input, init }: { input: unknown; init?: Init | undefined }): Promise<Response> {
    const response = await this.#fetch(input, init)
    this.#learn(at, response)
    return overheard(response, (address) => this.#lead(at, address))
  }

  /** Of a token that was refused. @returns false: it is this request that starts the login. */
  async #replaced({ token, signal }: Sending): Promise<boolean> {
    if (await this.#unlessEnded(this.#tokens.replaceAccessToken(token, { signal }))) return true
    if (await this.#page.opens()) return false
    // The login that is under way may be that of somebody else.
    throw ended()
  }

  /** Waits for the login that is under way. @returns false: it is this request that starts the login. */
  async #loggedIn({ signal }: Sending, leftMs: number): Promise<boolean> {
    const { clock } = this.#access
    const endAt = clock.monotonicNow() + leftMs
    while (this.#tokens.status().login !== 'present') {
      if (await this.#page.opens()) return false
      const ms = endAt - clock.monotonicNow()
      if (ms <= 0) throw underWay()
      await this.#page.news(ms, signal)
      checkNotAborted(signal)
    }
    return true
  }

  /** @returns undefined if a login is required. While there is a login, its errors go to the caller: a 401 would open a page in vain. */
  async #unlessEnded<Value>(asked: Promise<Value>): Promise<Value | undefined> {
    try {
      return await asked
    } catch (error) {
      const { login } = this.#tokens.status()
      if (isTokenError(error, 'ERR_LOGIN_REQUIRED') && login !== 'present') return undefined
      if (isTokenError(error, 'ERR_WAIT_TIMEOUT') && (login === 'pending' || login === 'required')) throw underWay()
      throw error
    }
  }

  /** The server leads its clients to another address. Beyond its origin nobody gets the token. */
  #lead(from: URL, to: string): void {
    const target = parsedUrl(to, from.href)
    const address = target && addressOf(target)
    if (target?.origin !== from.origin || address === undefined || address === this.#own) return
    this.#led = [address, ...this.#led.filter((one) => one !== address)].slice(0, MOST_KEPT)
  }

  #learn(at: URL, { status, headers }: Response): void {
    // The SDK follows redirects itself.
    if (status >= 300 && status < 400) this.#lead(at, headers.get('location') ?? '')
    if (status !== 401) return
    const named = /resource_metadata="?([^",\s]+)/.exec(headers.get('www-authenticate') ?? '')?.[1]
    this.metadataUrl = parsedUrl(named ?? '')?.href
  }
}

/** What one sending may use up. */
function copyOf(sending: Sending): CallSnapshot {
  const { isRepeatable, input, init } = sending
  return { ...sending, input: isRepeatable ? replayInputOf(sending) : input, init: copyOfInit(init) }
}

const isUnauthorized = ({ status }: Response) => status === 401

/** Whether the request can be sent again with another token. The response of another origin says nothing about the token. */
function isRefused({ at, isRepeatable, token }: Sending, { status, redirected, url, headers }: Response): boolean {
  if (status !== 401 || !isRepeatable || (redirected && parsedUrl(url)?.origin !== at.origin)) return false
  return token === '' || remedyOf(headers.get('www-authenticate')) === 'another-token'
}

function ended(): TokenError {
  const message =
    'The login in which this request began has ended: send it again after the next login, if it still applies'
  return new TokenError('ERR_LOGIN_REQUIRED', message)
}

function underWay(): TokenError {
  const message = 'A page of this login is open, here or in another program: send the request again after the login'
  return new TokenError('ERR_LOGIN_REQUIRED', message)
}

function addressOf({ origin, pathname }: URL): string {
  return origin + pathname
}
