import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { hidesRefusal, isReplayable } from '../client/bodies.ts'
import { cureOf } from '../client/challenges.ts'
import {
  type Grantee,
  isStillOf,
  loginAtSending,
  maySeeRedirects,
  NEW_TOKENS_REFUSED,
  type Sequel,
  sequelOf,
} from '../client/client-port.ts'
import { promised } from '../client/promised.ts'
import type { Prover } from '../client/prover.ts'
import { concealAgent, concealError, concealResponse, withHiddenRequest } from './concealment.ts'
import { discard } from './discard.ts'
import { deleteHeader } from './header-names.ts'
import { addressOf } from './origin-scope.ts'
import { Journey } from './redirects.ts'
import { ofRequest } from './request-error.ts'
import { sendUnfollowed } from './unfollowed.ts'
import { Wait } from './waiting.ts'

export type Bearer = Grantee<AxiosResponse>

/** One request, and the login in which it began. */
interface Errand {
  readonly config: InternalAxiosRequestConfig
  readonly adapter: AxiosAdapter
  readonly bearer: Bearer
  readonly begun: number | undefined
}

/** One sending of a request. */
interface Sending extends Errand {
  readonly token: string
  /** The login to which the request belongs since its first sending. */
  readonly login: number | undefined
  /** Set if the request has waited for its first token. */
  readonly wait: Wait | undefined
  readonly isReplay: boolean
  /** Whether this token has had a second proof. */
  readonly isProvenAgain: boolean
  journey: Journey | undefined
}

/**
 * Sends one request with a token, below all interceptors and transforms. If the API refuses the token and another one can be
 * had, sends it once more. Interceptors never see the header, so a retry library starts from a clean config.
 *
 * @param begun The mark of the login in which the request began.
 * @throws {TokenError} if no token can be had, or if the login of the request has ended. Then the request is not sent.
 */
export function sendWithToken(
  config: InternalAxiosRequestConfig,
  adapter: AxiosAdapter,
  bearer: Bearer,
  begun: number | undefined,
): Promise<AxiosResponse> {
  const errand: Errand = { config, adapter, bearer, begun }
  try {
    const token = bearer.access.peek()
    const login = loginAtSending(bearer, begun)
    if (token === undefined) return sendAfterWait(errand, new Wait(config, bearer.access))
    return send(sendingOf(errand, token, login))
  } catch (error) {
    return Promise.reject(ofRequest(error, config))
  }
}

/** Holds as few objects as possible: ten thousand requests may wait. */
function sendAfterWait(errand: Errand, wait: Wait): Promise<AxiosResponse> {
  return wait.forToken((token) => {
    const { config, bearer, begun } = errand
    // Waits again if the process stalled until the token had expired.
    if (bearer.access.hasEnded(token)) return sendAfterWait(errand, wait)
    try {
      return send(sendingOf(errand, token, loginAtSending(bearer, begun), wait))
    } catch (error) {
      return Promise.reject(ofRequest(error, config))
    }
  })
}

function sendingOf(errand: Errand, token: string, login: number | undefined, wait?: Wait): Sending {
  const { config, adapter, bearer, begun } = errand
  // Not by a spread: this is made for each request.
  const first = { isReplay: false, isProvenAgain: false, journey: undefined }
  return { config, adapter, bearer, begun, token, login, wait, ...first }
}

function send(sending: Sending): Promise<AxiosResponse> {
  const { config, bearer, token, login } = sending
  const { prover, access } = bearer
  if (!prover) return sendDressed(sending)
  const wait = sending.wait ?? new Wait(config, access)
  const prove = async (waiting: Parameters<typeof prover.prove>[1]) => {
    const proof = await prover.prove({ ...placeOf(config), token }, waiting)
    loginAtSending(bearer, login) // the login may have ended while the key signed
    return proof
  }
  return wait.forProof(prove, (proof) => sendDressed({ ...sending, wait }, proof))
}

/** What a proof names of a request. */
function placeOf(config: InternalAxiosRequestConfig): { method: string; url: string } {
  const { method = 'get' } = config
  return { method: method.toUpperCase(), url: addressOf(config) ?? '' }
}

/** Not an async function: if a token is at hand and the API accepts it, a request costs one promise, and nothing is made in advance. */
function sendDressed(sending: Sending, proof?: string): Promise<AxiosResponse> {
  const { config, adapter, bearer } = sending
  const undo = dress(sending, proof)
  const { name } = bearer
  const sent = promised(() => (maySeeRedirects(bearer) ? adapter(config) : sendUnfollowed(adapter, config, bearer)))
  return sent.then(
    (response) => {
      undo((response as AxiosResponse | undefined)?.request)
      const told = withHiddenRequest(response)
      concealResponse(told, name, config.headers)
      return answered(sending, told, () => told)
    },
    (error: unknown) => {
      const { response } = (error ?? {}) as { response?: AxiosResponse }
      undo(response?.request)
      concealError(error, name, config.headers)
      concealResponse(response, name, config.headers)
      if (hidesRefusal(error) && isStillOf(bearer, sending.login)) bearer.access.replaceBehind(sending.token)
      return answered(sending, response, () => {
        throw error
      })
    },
  )
}

/** Puts the token on the config, for the adapter alone. @returns Restores the config, and notes where its redirects ended. */
function dress(sending: Sending, proof: string | undefined): (request: unknown) => void {
  const { config, bearer, token } = sending
  const { headers, beforeRedirect, maxRedirects, fetchOptions } = config
  // A copy, because interceptors may share an object of headers between requests. Not by its constructor, which would normalise each name.
  const dressed = Object.assign(Object.create(Object.getPrototypeOf(headers) as object) as typeof headers, headers)
  // `set` would search, on every request, for a header that is known to be absent.
  dressed[bearer.header] = bearer.text(token)
  if (proof !== undefined) dressed.DPoP = proof
  config.headers = dressed
  // Only `Authorization` is taken off a request that is redirected to another origin.
  const isFollowed = maySeeRedirects(bearer)
  if (isFollowed)
    config.beforeRedirect = (redirect, ...details) => {
      sending.journey ??= new Journey(config)
      sending.journey.before(redirect, bearer.name)
      beforeRedirect?.(redirect, ...details)
    }
  else {
    config.maxRedirects = 0
    config.fetchOptions = { ...fetchOptions, redirect: 'manual' }
  }
  concealAgent(config.httpAgent)
  concealAgent(config.httpsAgent)
  return (request) => {
    sending.journey ??= Journey.ofEnd(config, request)
    // Not the object of before: adapters have added headers to this one, as plain axios shows them.
    deleteHeader(dressed, bearer.name)
    if (proof !== undefined) deleteHeader(dressed, 'dpop')
    if (isFollowed) putBack(config, 'beforeRedirect', beforeRedirect)
    else putBack(config, 'maxRedirects', maxRedirects)
    if (config.fetchOptions !== fetchOptions) putBack(config, 'fetchOptions', fetchOptions)
  }
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
function answered(
  sending: Sending,
  response: AxiosResponse | undefined,
  settled: () => AxiosResponse,
): AxiosResponse | Promise<AxiosResponse> {
  const { config, bearer } = sending
  if (response === undefined) return settled()
  if (bearer.prover) hear(bearer.prover, config, response)
  let isRefused: boolean
  try {
    isRefused = !sending.journey?.hasLeft && bearer.refuses(response)
  } catch (error) {
    throw ofRequest(error, config)
  }
  return isRefused ? follow(sending, sequelTo(sending, response), response, settled) : settled()
}

function sequelTo(sending: Sending, { headers }: AxiosResponse): Sequel {
  const { config, bearer, login, journey, isReplay, isProvenAgain } = sending
  return sequelOf({
    cure: cureOf(headerOf(headers, 'www-authenticate')),
    isOfOtherOrigin: journey?.hasLeft ?? false,
    isOfThisLogin: isStillOf(bearer, login),
    isRepeatable: !journey?.mayHaveActed && isReplayable(config.data),
    isReplay,
    mayProveAgain: bearer.prover !== undefined && !isProvenAgain,
  })
}

/** @returns A header of an answer. Adapters give its names in lower case; test doubles may give no headers. */
function headerOf(headers: unknown, name: string): unknown {
  return typeof headers === 'object' && headers !== null ? Reflect.get(headers, name) : undefined
}

function hear(prover: Prover, config: InternalAxiosRequestConfig, { status, headers }: AxiosResponse): void {
  const [nonce, date, age] = ['dpop-nonce', 'date', 'age'].map((name) => headerOf(headers, name))
  prover.hear(placeOf(config), { status, nonce, date, age })
}

function follow(
  sending: Sending,
  sequel: Sequel,
  response: AxiosResponse,
  settled: () => AxiosResponse,
): AxiosResponse | Promise<AxiosResponse> {
  const { access } = sending.bearer
  switch (sequel) {
    case 'surface':
      return settled()
    case 'surface-again':
      access.anomaly('new-tokens-refused', NEW_TOKENS_REFUSED)
      return settled()
    case 'replace-behind':
      // This request must not be sent again. Later requests get another token.
      access.replaceBehind(sending.token)
      return settled()
    case 'prove-again':
      discard(response)
      return send({ ...sending, isProvenAgain: true, journey: undefined })
    case 'replay':
      return replay(sending, response, settled)
  }
}

async function replay(sending: Sending, response: AxiosResponse, settled: () => AxiosResponse): Promise<AxiosResponse> {
  const { config, bearer, token, login } = sending
  let next: string
  try {
    const wait = sending.wait ?? new Wait(config, bearer.access)
    next = await wait.forAnotherThan(token)
  } catch {
    return settled() // without another token the API's own answer tells the caller most
  }
  if (!isStillOf(bearer, login)) return settled()
  if (next === token) return follow(sending, 'surface-again', response, settled)
  discard(response)
  return send({ ...sending, token: next, isReplay: true, isProvenAgain: false, journey: undefined })
}
