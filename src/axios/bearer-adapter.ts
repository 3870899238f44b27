import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { concealAgent, concealError, concealResponse } from './concealment.ts'
import { deleteHeader } from './header-names.ts'
import { promised } from './promised.ts'
import { Journey } from './redirects.ts'
import { discard, isReplayable } from './replay.ts'
import type { TokenAccess } from './token-access.ts'
import { sendUnfollowed } from './unfollowed.ts'
import { Wait } from './waiting.ts'

/** How an attachment puts its token on requests. */
export interface Bearer {
  readonly access: TokenAccess
  readonly header: string
  /** The header's name in lower case. */
  readonly name: string
  /** The header's text with this token. */
  readonly text: (token: string) => string
  readonly refuses: (response: AxiosResponse) => boolean
}

/**
 * Sends one request with a token, below all interceptors and transforms. If the API refuses the token and another one can be
 * had, sends it once more. Interceptors never see the header, so a retry library starts from a clean config.
 *
 * @throws {TokenError} if no token can be had. Then the request is not sent.
 */
export function sendWithToken(
  config: InternalAxiosRequestConfig,
  adapter: AxiosAdapter,
  bearer: Bearer,
): Promise<AxiosResponse> {
  const sending: Sending = { config, adapter, bearer }
  const token = bearer.access.peek()
  return token === undefined ? sendAfterWait(sending, new Wait(config, bearer.access)) : send(sending, token)
}

interface Sending {
  readonly config: InternalAxiosRequestConfig
  readonly adapter: AxiosAdapter
  readonly bearer: Bearer
  /** Set if the request has waited for its first token. */
  readonly wait?: Wait
  readonly isReplay?: boolean
}

/** Holds as few objects as possible: ten thousand requests may wait. */
function sendAfterWait(sending: Sending, wait: Wait): Promise<AxiosResponse> {
  return wait.forToken((token) =>
    // Waits again if the process stalled until the token had expired.
    sending.bearer.access.hasEnded(token) ? sendAfterWait(sending, wait) : send({ ...sending, wait }, token),
  )
}

/** Not an async function: if a token is at hand and the API accepts it, a request costs one promise, and nothing is made in advance. */
function send(sending: Sending, token: string): Promise<AxiosResponse> {
  const { config, adapter, bearer } = sending
  const { header, name } = bearer
  const { headers, beforeRedirect, maxRedirects, fetchOptions } = config
  let journey: Journey | undefined
  // `set` would search, on every request, for a header that is known to be absent.
  headers[header] = bearer.text(token)
  const isAuthorization = name === 'authorization'
  // Only `Authorization` is taken off a request that is redirected to another origin.
  if (isAuthorization) {
    config.beforeRedirect = (redirect, ...details) => {
      journey ??= new Journey(config)
      journey.before(redirect, name)
      beforeRedirect?.(redirect, ...details)
    }
  } else {
    config.maxRedirects = 0
    config.fetchOptions = { ...fetchOptions, redirect: 'manual' }
  }
  concealAgent(config.httpAgent)
  concealAgent(config.httpsAgent)
  /** Restores the config. @returns Whether the API refuses the token: a 401 from another origin says nothing about it. */
  const end = (response: AxiosResponse | undefined): response is AxiosResponse => {
    journey ??= Journey.ofEnd(config, response?.request)
    deleteHeader(headers, name)
    putBack(config, 'beforeRedirect', beforeRedirect)
    putBack(config, 'maxRedirects', maxRedirects)
    putBack(config, 'fetchOptions', fetchOptions)
    concealResponse(response, name, headers)
    return response !== undefined && !journey?.hasLeft && bearer.refuses(response)
  }
  return promised(() => (isAuthorization ? adapter(config) : sendUnfollowed(adapter, config, header))).then(
    (response) => (end(response) ? replay(sending, token, journey, response, () => response) : response),
    (error: unknown) => {
      const { response } = (error ?? {}) as { response?: AxiosResponse }
      concealError(error, name, headers)
      const settled = () => {
        throw error
      }
      return end(response) ? replay(sending, token, journey, response, settled) : settled()
    },
  )
}

/** Restores a member of the config. A member that was absent is removed. */
function putBack<Name extends keyof InternalAxiosRequestConfig>(
  config: InternalAxiosRequestConfig,
  name: Name,
  value: InternalAxiosRequestConfig[Name] | undefined,
): void {
  if (value !== undefined) config[name] = value
  else if (name in config) Reflect.deleteProperty(config, name)
}

/** @param settled Returns, or throws, the API's own answer. */
async function replay(
  sending: Sending,
  token: string,
  journey: Journey | undefined,
  response: AxiosResponse,
  settled: () => AxiosResponse,
): Promise<AxiosResponse> {
  const { config, adapter, bearer, isReplay } = sending
  const { access } = bearer
  const stillRefused = () => {
    access.anomaly('new-tokens-refused', REFUSED)
    return settled()
  }
  if (isReplay) return stillRefused()
  if (journey?.mayHaveActed || !isReplayable(config.data)) {
    // This request must not be sent again. Later requests get another token.
    access.replaceBehind(token)
    return settled()
  }
  let next: string
  try {
    const wait = sending.wait ?? new Wait(config, access)
    next = await wait.forAnotherThan(token)
  } catch {
    return settled() // without another token the API's own answer tells the caller most
  }
  if (next === token) return stillRefused()
  discard(response)
  return send({ config, adapter, bearer, isReplay: true }, next)
}

const REFUSED =
  'The API refused an access token and its successor: check that the API and the token service belong to the same environment, the ' +
  'audience and scope of the tokens, and the clock of the API'
