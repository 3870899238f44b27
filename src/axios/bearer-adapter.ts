import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { concealAgent, concealError, concealResponse } from './concealment.ts'
import { Journey } from './redirects.ts'
import { discard, isReplayable } from './replay.ts'
import type { TokenAccess } from './token-access.ts'
import { Wait } from './waiting.ts'

/** What an attachment does to the requests that it is in charge of. */
export interface Bearer {
  readonly access: TokenAccess
  readonly header: string
  readonly scheme: string
  readonly refuses: (response: AxiosResponse) => boolean
}

type Answer = { readonly journey: Journey } & (
  { readonly response: AxiosResponse } | { readonly error: unknown; readonly response?: AxiosResponse }
)

/**
 * Sends one request with a token, below all interceptors and transforms, and once more when the API refuses the token and
 * another one can be had. Nobody above sees the header: a retry library starts from a clean config.
 *
 * @throws {TokenError} where no token can be had: the request is not sent.
 */
export async function sendWithToken(
  config: InternalAxiosRequestConfig,
  adapter: AxiosAdapter,
  bearer: Bearer,
): Promise<AxiosResponse> {
  const { access } = bearer
  let wait: Wait | undefined
  let token = access.peek()
  if (token === undefined) {
    wait = new Wait(config, access)
    // Again where a stall has outlasted the token that was waited for.
    do token = await wait.forToken()
    while (access.hasEnded(token))
  }
  const first = await call(config, adapter, bearer, token)
  if (!isRefused(first, bearer)) return settled(first)
  if (first.journey.mayHaveActed || !isReplayable(config.data)) {
    // This one must not go out again; the next one fares better.
    access.replaceBehind(token)
    return settled(first)
  }
  let next: string
  try {
    wait ??= new Wait(config, access)
    next = await wait.forAnotherThan(token)
  } catch {
    return settled(first) // without another token the API's own answer says most
  }
  if (next === token) {
    access.anomaly('new-tokens-refused', REFUSED)
    return settled(first)
  }
  discard(first.response)
  const second = await call(config, adapter, bearer, next)
  if (isRefused(second, bearer)) access.anomaly('new-tokens-refused', REFUSED)
  return settled(second)
}

const REFUSED =
  'The API refused an access token, and the one that was issued in its place too: check that the token service is that of the same ' +
  'environment as the API, that its tokens have the audience and the scope that the API asks for, and the clock of the API'

/** A 401 from another origin says nothing of the token. */
function isRefused(answer: Answer, { refuses }: Bearer): answer is Answer & { readonly response: AxiosResponse } {
  return answer.response !== undefined && !answer.journey.hasLeft && refuses(answer.response)
}

async function call(
  config: InternalAxiosRequestConfig,
  adapter: AxiosAdapter,
  { header, scheme }: Bearer,
  token: string,
): Promise<Answer> {
  const journey = new Journey(config)
  const { headers, beforeRedirect, maxRedirects, fetchOptions } = config
  // `set` would search, on every request, for a header that is known to be absent.
  headers[header] = scheme === '' ? token : `${scheme} ${token}`
  const name = header.toLowerCase()
  // Only `Authorization` is taken off a request that is redirected to another origin.
  const followsRedirects = name === 'authorization'
  if (followsRedirects) config.beforeRedirect = journey.beforeRedirect(name)
  else config.maxRedirects = 0
  concealAgent(config.httpAgent)
  concealAgent(config.httpsAgent)
  config.fetchOptions = journey.fetchOptions(followsRedirects ? undefined : 'manual')
  try {
    const response = await adapter(config)
    concealResponse(response, name, headers)
    return { journey, response }
  } catch (error) {
    const { response } = (error ?? {}) as { response?: AxiosResponse }
    concealError(error, name, headers)
    concealResponse(response, name, headers)
    return response ? { journey, error, response } : { journey, error }
  } finally {
    headers.delete(header)
    putBack(config, 'beforeRedirect', beforeRedirect)
    putBack(config, 'maxRedirects', maxRedirects)
    putBack(config, 'fetchOptions', fetchOptions)
  }
}

/** What was absent is absent again. */
function putBack<Name extends keyof InternalAxiosRequestConfig>(
  config: InternalAxiosRequestConfig,
  name: Name,
  value: InternalAxiosRequestConfig[Name] | undefined,
): void {
  if (value !== undefined) config[name] = value
  else if (name in config) Reflect.deleteProperty(config, name)
}

function settled(answer: Answer): AxiosResponse {
  if ('error' in answer) throw answer.error
  return answer.response
}
