import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { isReplayable } from '../client/bodies.ts'
import { type Grantee, loginAtSending, maySeeRedirects } from '../client/client-port.ts'
import { promised } from '../client/promised.ts'
import type { SentRequest } from '../client/prover.ts'
import { type Errand, follow, heedFailure, proofOf } from '../client/sequel.ts'
import { foreignSocket } from '../core/foreign-socket.ts'
import { type Serializer, takeAsCalled } from './as-called.ts'
import { concealAgent, concealError, concealResponse, withHiddenRequest } from './concealment.ts'
import { discard } from './discard.ts'
import { deleteHeader } from './header-names.ts'
import { addressOf } from './origin-scope.ts'
import { memberOf } from './member-of.ts'
import { Journey } from './redirects.ts'
import { ofRequest } from './request-error.ts'
import { sendUnfollowed } from './unfollowed.ts'
import { Wait } from './waiting.ts'

export type Bearer = Grantee<AxiosResponse>

interface Sending extends Errand<AxiosResponse> {
  readonly config: InternalAxiosRequestConfig
  readonly adapter: AxiosAdapter
  /** Gives the query of the call. */
  readonly serializer: Serializer | undefined
  /** What a proof names of the request. */
  readonly place: SentRequest | undefined
  /** Set as soon as the request has to wait. */
  wait: Wait | undefined
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
  grantee: Bearer,
  begun: number | undefined,
): Promise<AxiosResponse> {
  try {
    const token = grantee.access.peek()
    const login = loginAtSending(grantee, begun)
    const serializer = takeAsCalled(config)
    const sending: Sending = {
      config,
      adapter,
      serializer,
      place: grantee.prover && placeOf(config, serializer),
      grantee,
      begun,
      token: token ?? '',
      login,
      isReplay: false,
      isProvenAgain: false,
      wait: undefined,
      journey: undefined,
    }
    return token === undefined ? sendAfterWait(sending) : send(sending)
  } catch (error) {
    return Promise.reject(ofRequest(error, config))
  }
}

/** Holds as few objects as possible: ten thousand requests may wait. */
function sendAfterWait(sending: Sending): Promise<AxiosResponse> {
  return waitOf(sending).forToken((token) => {
    const { config, grantee, begun } = sending
    // Waits again if the process stalled until the token had expired.
    if (grantee.access.hasEnded(token)) return sendAfterWait(sending)
    try {
      sending.login = loginAtSending(grantee, begun)
      sending.token = token
      return send(sending)
    } catch (error) {
      return Promise.reject(ofRequest(error, config))
    }
  })
}

function waitOf(sending: Sending): Wait {
  return (sending.wait ??= new Wait(sending.config, sending.grantee.access))
}

function send(sending: Sending): Promise<AxiosResponse> {
  const { grantee, place } = sending
  const { prover } = grantee
  if (!prover || !place) return sendDressed(sending)
  return waitOf(sending).forProof(
    (waiting) => proofOf(sending, prover, place, waiting),
    // The key may need longer than the token lives.
    (proof) => (grantee.access.hasEnded(sending.token) ? sendAfterWait(sending) : sendDressed(sending, proof)),
  )
}

function placeOf(config: InternalAxiosRequestConfig, serializer: Serializer | undefined): SentRequest {
  const { method = 'get' } = config
  return { method: method.toUpperCase(), url: addressOf(config, serializer) ?? '' }
}

/** Not an async function: if a token is at hand and the API accepts it, a request costs one promise, and nothing is made in advance. */
function sendDressed(sending: Sending, proof?: string): Promise<AxiosResponse> {
  const { config, adapter, grantee } = sending
  const socket = foreignSocket(adapter, memberOf(config as { httpVersion?: unknown }, 'httpVersion'))
  if (socket !== undefined) return Promise.reject(ofRequest(new TypeError(socket), config))
  const undo = dress(sending, proof)
  const { name } = grantee
  const sent = promised(() => (maySeeRedirects(grantee) ? adapter(config) : sendUnfollowed(adapter, config, grantee)))
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
      heedFailure(sending, error)
      return answered(sending, response, () => {
        throw error
      })
    },
  )
}

/** Puts the token on the config, for the adapter alone. @returns Restores the config, and notes where its redirects ended. */
function dress(sending: Sending, proof: string | undefined): (request: unknown) => void {
  const { config, grantee, token, serializer } = sending
  const { headers, beforeRedirect, maxRedirects, fetchOptions, paramsSerializer } = config
  // `set` would search, on every request, for a header that is known to be absent.
  headers[grantee.header] = grantee.text(token)
  if (proof !== undefined) headers.DPoP = proof
  if (serializer) config.paramsSerializer = serializer
  // Only `Authorization` is taken off a request that is redirected to another origin.
  const isFollowed = maySeeRedirects(grantee)
  if (isFollowed)
    config.beforeRedirect = (redirect, ...details) => {
      sending.journey ??= new Journey(config)
      sending.journey.before(redirect, grantee.name)
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
    deleteHeader(headers, grantee.name)
    if (proof !== undefined) deleteHeader(headers, 'dpop')
    if (serializer) putBack(config, 'paramsSerializer', paramsSerializer)
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

/** @param surface Returns, or throws, the API's own answer. */
function answered(
  sending: Sending,
  response: AxiosResponse | undefined,
  surface: () => AxiosResponse,
): AxiosResponse | Promise<AxiosResponse> {
  if (response === undefined) return surface()
  const { config, grantee, journey, place } = sending
  const { status, headers } = response
  if (place) grantee.prover?.hear(place, status, (name) => headerOf(headers, name))
  let isRefused: boolean
  try {
    // The answer of another origin says nothing about the token.
    isRefused = !journey?.hasLeft && grantee.refuses(response)
  } catch (error) {
    throw ofRequest(error, config)
  }
  if (!isRefused) return surface()
  return follow(sending, {
    challenge: headerOf(headers, 'www-authenticate'),
    isRepeatable: !journey?.mayHaveActed && isReplayable(config.data),
    replace: () =>
      waitOf(sending)
        .forAnotherThan(sending.token)
        .catch(() => undefined),
    sendAgain() {
      discard(response)
      sending.journey = undefined
      return send(sending)
    },
    surface,
  })
}

/** @returns A header of an answer. Adapters give its names in lower case; test doubles may give no headers. */
function headerOf(headers: unknown, name: string): unknown {
  return typeof headers === 'object' && headers !== null ? Reflect.get(headers, name) : undefined
}
