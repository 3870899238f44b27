import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { isReplayable } from '../client/bodies.ts'
import { type Grantee, markAtSending, maySeeRedirects } from '../client/client-port.ts'
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
import { WaitBudget } from './waiting.ts'

export type Bearer = Grantee<AxiosResponse>

interface Sending extends Errand<AxiosResponse> {
  readonly config: InternalAxiosRequestConfig
  readonly adapter: AxiosAdapter
  /** Gives the query of the call. */
  readonly serializer: Serializer | undefined
  /** What a proof names of the request. */
  readonly place: SentRequest | undefined
  /** Set as soon as the request has to wait. */
  waits: WaitBudget | undefined
  journey: Journey | undefined
}

/**
 * Sends one request with a token, below all interceptors and transforms. If the API refuses the token and another one can be
 * had, sends it once more. Interceptors never see the header, so a retry library starts from a clean config.
 *
 * @param begun The mark under which the request began.
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
    const mark = markAtSending(grantee, begun)
    const serializer = takeAsCalled(config)
    const sending: Sending = {
      config,
      adapter,
      serializer,
      place: grantee.prover && placeOf(config, serializer),
      grantee,
      begun,
      token: token ?? '',
      mark,
      isReplay: false,
      isProvenAgain: false,
      waits: undefined,
      journey: undefined,
    }
    return token === undefined ? sendAfterWait(sending) : send(sending)
  } catch (error) {
    return Promise.reject(ofRequest(error, config))
  }
}

/** Holds as few objects as possible: ten thousand requests may wait. */
function sendAfterWait(sending: Sending): Promise<AxiosResponse> {
  return waitsOf(sending).forToken(sendWith, sending)
}

function sendWith(token: string, sending: Sending): Promise<AxiosResponse> {
  const { config, grantee, begun } = sending
  // Waits again if the process stalled until the token had expired.
  if (grantee.access.hasEnded(token)) return sendAfterWait(sending)
  try {
    sending.mark = markAtSending(grantee, begun)
    sending.token = token
    return send(sending)
  } catch (error) {
    return Promise.reject(ofRequest(error, config))
  }
}

function waitsOf(sending: Sending): WaitBudget {
  return (sending.waits ??= new WaitBudget(sending.config, sending.grantee.access))
}

function send(sending: Sending): Promise<AxiosResponse> {
  const { grantee, place } = sending
  const { prover } = grantee
  if (!prover || !place) return sendDressed(sending)
  return waitsOf(sending).forProof(
    (limits) => proofOf(sending, prover, place, limits),
    // The key may need longer than the token lives.
    (proof) => (grantee.access.hasEnded(sending.token) ? sendAfterWait(sending) : sendDressed(sending, proof)),
  )
}

function placeOf(config: InternalAxiosRequestConfig, serializer: Serializer | undefined): SentRequest {
  const { method = 'get' } = config
  return { method: method.toUpperCase(), url: addressOf(config, serializer) ?? '' }
}

/**
 * Not an async function: if a token is at hand and the API accepts it, a request costs one promise, and nothing is made in advance. What needs functions
 * of its own stands in functions of its own: V8 would make a scope for them at each call.
 */
function sendDressed(sending: Sending, proof?: string): Promise<AxiosResponse> {
  const { config, adapter, grantee } = sending
  const socket = foreignSocket(adapter, memberOf(config as { httpVersion?: unknown }, 'httpVersion'))
  if (socket !== undefined) return Promise.reject(ofRequest(new TypeError(socket), config))
  const { beforeRedirect, fetchOptions, maxRedirects, paramsSerializer } = config
  const own = { beforeRedirect, fetchOptions, maxRedirects, paramsSerializer }
  dress(sending, proof)
  // Only `Authorization` is taken off a request that is redirected to another origin.
  if (maySeeRedirects(grantee))
    config.beforeRedirect = (redirect, ...details) => {
      sending.journey ??= new Journey(config)
      sending.journey.before(redirect, grantee.name)
      own.beforeRedirect?.(redirect, ...details)
    }
  return sentBy(sending).then(
    (response) => {
      undress(sending, own, (response as AxiosResponse | undefined)?.request)
      const told = withHiddenRequest(response)
      concealResponse(told, grantee.name, config.headers)
      return answered(sending, told)
    },
    (error: unknown) => {
      const { response } = (error ?? {}) as { response?: AxiosResponse }
      undress(sending, own, response?.request)
      concealError(error, grantee.name, config.headers)
      concealResponse(response, grantee.name, config.headers)
      heedFailure(sending, error)
      return answered(sending, response, { error })
    },
  )
}

/** An adapter of the user may throw, and may return no promise. */
function sentBy({ adapter, config, grantee }: Sending): Promise<AxiosResponse> {
  try {
    return Promise.resolve(maySeeRedirects(grantee) ? adapter(config) : sendUnfollowed(adapter, config, grantee))
  } catch (error) {
    return promised(() => {
      throw error
    })
  }
}

type Config = InternalAxiosRequestConfig

/** What the config has in the place of what the adapter alone may see. */
type Own = { readonly [Name in 'beforeRedirect' | 'fetchOptions' | 'maxRedirects' | 'paramsSerializer']: Config[Name] }

/** Puts the token on the config, for the adapter alone. */
function dress({ config, grantee, token, serializer }: Sending, proof: string | undefined): void {
  // `set` would search, on every request, for a header that is known to be absent.
  config.headers[grantee.header] = grantee.text(token)
  if (proof !== undefined) config.headers.DPoP = proof
  if (serializer) config.paramsSerializer = serializer
  if (!maySeeRedirects(grantee)) {
    config.maxRedirects = 0
    config.fetchOptions = { ...config.fetchOptions, redirect: 'manual' }
  }
  concealAgent(config.httpAgent)
  concealAgent(config.httpsAgent)
}

/** Restores the config, and notes where its redirects ended. */
function undress(sending: Sending, own: Own, request: unknown): void {
  const { config, grantee, serializer } = sending
  sending.journey ??= Journey.ofEnd(config, request)
  // The header is the last one, as a rule: to delete it by its name takes half the time. An adapter may have written it in another case.
  Reflect.deleteProperty(config.headers, grantee.header)
  deleteHeader(config.headers, grantee.name)
  if (grantee.prover) deleteHeader(config.headers, 'dpop')
  if (serializer) putBack(config, 'paramsSerializer', own.paramsSerializer)
  if (maySeeRedirects(grantee)) putBack(config, 'beforeRedirect', own.beforeRedirect)
  else putBack(config, 'maxRedirects', own.maxRedirects)
  if (config.fetchOptions !== own.fetchOptions) putBack(config, 'fetchOptions', own.fetchOptions)
}

/** Restores a member of the config. A member that was absent is removed. */
function putBack<Name extends keyof InternalAxiosRequestConfig>(
  config: InternalAxiosRequestConfig,
  name: Name,
  value: InternalAxiosRequestConfig[Name] | undefined,
): void {
  if (value !== undefined) config[name] = value
  else Reflect.deleteProperty(config, name)
}

/** @param failed What the adapter rejected with, if it did. */
function answered(
  sending: Sending,
  response: AxiosResponse | undefined,
  failed?: { readonly error: unknown },
): AxiosResponse | Promise<AxiosResponse> {
  if (response === undefined) return surfaced(response as never, failed)
  if (sending.place) hear(sending, sending.place, response)
  return isRefused(sending, response) ? followed(sending, response, failed) : surfaced(response, failed)
}

/** Gives the API's own answer to the caller. */
function surfaced<Answer>(response: Answer, failed: { readonly error: unknown } | undefined): Answer {
  if (failed) throw failed.error
  return response
}

function hear({ grantee }: Sending, place: SentRequest, { status, headers }: AxiosResponse): void {
  grantee.prover?.hear(place, status, (name) => headerOf(headers, name))
}

function isRefused({ config, grantee, journey }: Sending, response: AxiosResponse): boolean {
  try {
    // The answer of another origin says nothing about the token.
    return !journey?.hasLeft && grantee.refuses(response)
  } catch (error) {
    throw ofRequest(error, config)
  }
}

function followed(
  sending: Sending,
  response: AxiosResponse,
  failed: { readonly error: unknown } | undefined,
): Promise<AxiosResponse> {
  return follow(sending, {
    challenge: headerOf(response.headers, 'www-authenticate'),
    isRepeatable: !sending.journey?.mayHaveActed && isReplayable(sending.config.data),
    replace: () =>
      waitsOf(sending)
        .forAnotherThan(sending.token)
        .catch(() => undefined),
    sendAgain() {
      discard(response)
      sending.journey = undefined
      return send(sending)
    },
    surface: () => surfaced(response, failed),
  })
}

/** @returns A header of an answer. Adapters give its names in lower case; test doubles may give no headers. */
function headerOf(headers: unknown, name: string): unknown {
  return typeof headers === 'object' && headers !== null ? Reflect.get(headers, name) : undefined
}
