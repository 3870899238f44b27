import { isReplayable } from '../client/bodies.ts'
import { cureOf } from '../client/challenges.ts'
import { accessTo, type TokenAccess, type WaitLimits } from '../client/token-access.ts'
import { checkNotAborted } from '../core/deadline.ts'
import { copyForCaller, isTokenError, TokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import type { TokenManager } from '../core/token-manager.ts'
import { overheard } from './announced.ts'
import type { OnePage } from './one-page.ts'

type Fetch = typeof fetch

/** One request to the server, as it was when it was called. */
interface Call {
  readonly url: URL
  readonly send: (token: string | undefined) => Promise<Response>
  readonly isRepeatable: boolean
  /** Makes one wait. All waits of a call share the time that one caller may wait. */
  readonly wait: <Value>(ask: (limits: WaitLimits) => Value | Promise<Value>) => Promise<Value>
}

/** The requests to one MCP server. They carry the token of its login, and no other request does. */
export class ServerCalls {
  readonly #fetch: Fetch
  readonly #tokens: TokenManager
  readonly #access: TokenAccess
  readonly #page: OnePage
  /** Origin and path of the server, and of where the server leads its clients within its origin. */
  readonly #addresses: Set<string>
  /** `resource_metadata` of the last 401 (RFC 9728, section 5.1). */
  metadataUrl: string | undefined

  constructor(fetch: Fetch, tokens: TokenManager, serverUrl: URL, page: OnePage) {
    this.#fetch = fetch
    this.#tokens = tokens
    this.#access = accessTo(tokens)
    this.#page = page
    this.#addresses = new Set([addressOf(serverUrl)])
  }

  readonly fetch: Fetch = async (input, init) => {
    const call = this.#callOf(input, init)
    return call ? this.#made(call) : this.#fetch(input, init)
  }

  /** @returns undefined if the request is not for the server, or carries a header of its own. */
  #callOf(input: Parameters<Fetch>[0], init: RequestInit | undefined): Call | undefined {
    const request = typeof input === 'object' && 'url' in input ? input : undefined
    const url = parsedUrl(request?.url ?? (input as string | URL).toString())
    const headers = new Headers(init?.headers ?? request?.headers)
    if (!url || !this.#addresses.has(addressOf(url)) || headers.has('authorization')) return undefined
    const { clock, maxWaitMs } = this.#access
    const signal = init?.signal ?? request?.signal
    let leftMs = maxWaitMs
    return {
      url,
      isRepeatable: isReplayable(init?.body),
      send: (token) => {
        const sent = new Headers(headers)
        if (token !== undefined) sent.set('authorization', `Bearer ${token}`)
        return this.#fetch(request?.clone() ?? url.href, { ...init, headers: sent })
      },
      wait: async (ask) => {
        const startedAt = clock.monotonicNow()
        try {
          return await ask({ signal, maxWaitMs: Math.max(0, leftMs) })
        } catch (error) {
          throw isTokenError(error) ? copyForCaller(this.fetch, error) : error
        } finally {
          leftMs -= clock.monotonicNow() - startedAt
        }
      },
    }
  }

  async #made(call: Call): Promise<Response> {
    const { markNow = () => 0, markSince, replaceBehind } = this.#access
    let isOfLogin = this.#tokens.status().login === 'present'
    let begun = markNow()
    let token = await this.#token(call)
    for (;;) {
      // No request of one login gets a token of another one (R10). One that began without a login belongs to the first whose token it carries.
      if (isOfLogin && begun < markSince()) throw ended()
      if (token !== undefined && !isOfLogin) {
        isOfLogin = true
        begun = markSince()
      }
      const response = await call.send(token)
      this.#learn(call.url, response)
      const challenge = response.headers.get('www-authenticate')
      if (response.status !== 401 || (token !== undefined && cureOf(challenge) !== 'another-token'))
        return overheard(response, (address) => this.#lead(call.url, address))
      if (token !== undefined && !call.isRepeatable) replaceBehind(token)
      const next = call.isRepeatable ? await this.#next(call, token) : undefined
      // The SDK gets its 401, and logs in.
      if (next === undefined) return response
      await response.body?.cancel()
      token = next
    }
  }

  /** @returns undefined if nobody has logged in. @throws {TokenError} if there is a login, but no token now. */
  async #token({ wait }: Pick<Call, 'wait'>): Promise<string | undefined> {
    return this.#unlessEnded(async () => {
      let token = await wait((limits) => this.#access.get(limits))
      // Asks again if the process stalled until the token had expired.
      while (this.#access.hasEnded(token)) token = await wait((limits) => this.#access.get(limits))
      return token
    })
  }

  /** What the request carries after its 401. @returns undefined: it is this request that opens the page of the login */
  async #next(call: Call, refused: string | undefined): Promise<string | undefined> {
    if (refused === undefined) return this.#awaited(call)
    const access = this.#access
    const next = await this.#unlessEnded(() => call.wait((limits) => access.replace(refused, limits)))
    if (next !== undefined || (await this.#page.opens(access.maxWaitMs))) return next
    // The login that is under way may be that of somebody else.
    throw ended()
  }

  /** Waits for the login that is under way. @returns undefined if there is none, or it did not come in time */
  async #awaited(call: Call): Promise<string | undefined> {
    for (;;) {
      const token = await this.#token(call)
      if (token !== undefined || (await this.#page.opens(this.#access.maxWaitMs))) return token
      const mayGoOn = await call.wait(async ({ signal, maxWaitMs }) => {
        if (maxWaitMs > 0) await this.#page.news(maxWaitMs, signal ?? undefined)
        checkNotAborted(signal)
        return maxWaitMs > 0
      })
      if (!mayGoOn) return undefined
    }
  }

  /** @returns undefined if a login is required. While there is a login, its errors go to the caller: a 401 would open a page in vain. */
  async #unlessEnded(ask: () => Promise<string>): Promise<string | undefined> {
    try {
      return await ask()
    } catch (error) {
      if (isTokenError(error, 'ERR_LOGIN_REQUIRED') && this.#tokens.status().login !== 'present') return undefined
      throw error
    }
  }

  /** The server leads its clients to another address. Beyond its origin nobody gets the token. */
  #lead(from: URL, to: string): void {
    const target = parsedUrl(to, from.href)
    if (target?.origin === from.origin) this.#addresses.add(addressOf(target))
  }

  #learn(url: URL, { status, headers }: Response): void {
    // The SDK follows redirects itself.
    if (status >= 300 && status < 400) this.#lead(url, headers.get('location') ?? '')
    if (status === 401)
      this.metadataUrl = /resource_metadata="?([^",\s]+)/.exec(headers.get('www-authenticate') ?? '')?.[1]
  }
}

function ended(): TokenError {
  const message =
    'The login in which this request began has ended: send it again after the next login, if it still applies'
  return new TokenError('ERR_LOGIN_REQUIRED', message)
}

function addressOf({ origin, pathname }: URL): string {
  return origin + pathname
}
