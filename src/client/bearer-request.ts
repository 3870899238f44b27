import { reasonOf } from '../core/deadline.ts'
import { TokenError } from '../core/errors.ts'
import { isPromise } from '../core/thrown.ts'
import { hidesRejection } from './bodies.ts'
import { remedyOf } from './challenges.ts'
import { type OriginBinding, isStillOf, generationAtSending } from './origin-binding.ts'
import { promised } from './promised.ts'
import type { SentRequest } from '../core/proofs.ts'
import type { Prover } from './key-port.ts'
import { type RetryDecision, retryDecisionOf } from './retry-decision.ts'
import type { WaitLimits } from './token-access.ts'

/** The part of a response that all client libraries have. */
interface ClientResponse {
  readonly status: number
}

/** What limits the waits of one request. */
export interface RequestLimits {
  readonly signal: AbortSignal | undefined
  /** The timeout of the request itself; Infinity if it has none. */
  readonly timeoutMs: number
  /** Called when a wait has ended. Removes its listeners. */
  readonly forget?: (() => void) | undefined
}

/** What the client rejected with, if it did not resolve with the response. */
export type Failed = { readonly error: unknown } | undefined

/**
 * One request with a token, and how its client library sends it. This is the only object that is created for each request, because ten thousand
 * requests may wait at once. `deliver` sends it, and the client calls `received` or `failed`.
 */
export abstract class BearerRequest<R extends ClientResponse> {
  readonly binding: OriginBinding<R>
  /** The login generation in which the request began. Undefined: it belongs to no login yet. */
  startGeneration: number | undefined
  /** Undefined if the request has no proof, or one of its own. */
  readonly prover: Prover | undefined
  /** The token of the latest attempt. */
  token = ''
  /** The login generation that the request belongs to since its first attempt. */
  generation: number | undefined
  isReplay = false
  /** Whether a second proof was made for this token. */
  hasSecondProof = false
  /** How long the request has waited. The first token, the token of the replay, and all proofs share one budget. */
  spentMs = 0

  constructor(binding: OriginBinding<R>, startGeneration: number | undefined, prover = binding.prover) {
    this.binding = binding
    this.startGeneration = startGeneration
    this.prover = prover
    this.generation = startGeneration
  }

  /** The caller's signal. */
  abstract readonly signal: AbortSignal | undefined
  /** Calls the client with the token on the request. */
  abstract send(proof: string | undefined): Promise<R>
  /** Called before the request is sent again. Discards the response. */
  abstract prepareReplay(response: R): void
  abstract limits(): RequestLimits
  /** The method and the URL, which a proof contains. */
  abstract target(): SentRequest
  abstract headerOf(response: R, name: string): unknown
  /** Whether a redirect led to another origin, whose response says nothing about the token. */
  abstract hasLeftOrigin(response: R): boolean
  /** Whether the body can be sent again, and no redirect can have turned the request into another one. */
  abstract isRepeatable(response: R): boolean
  /** Converts an error that did not come from the client. */
  abstract errorForCaller(error: unknown): unknown

  /** Whether the response rejects the token. */
  rejects(response: R): boolean | PromiseLike<boolean> {
    return this.binding.refuses(response)
  }

  /** Called before `send`, unless `send` follows synchronously. */
  detachFromCaller(): void {
    // Not every client refers to objects that its caller may change.
  }

  /** Called before the caller receives a response that rejects the token. @returns Whether the request is sent again, with its current `token`. */
  beforeSurface?(response: R): Promise<boolean>

  /** Called before the caller receives the response. */
  finish(): void {
    // Not every client holds resources for a replay.
  }
}

/**
 * Sends a request with a token: synchronously if a token is available and no key must sign. If the API rejects the token and the manager has or gets
 * another one, the request is sent once more.
 *
 * @throws {TokenError} (as a rejection) if there is no token, or if the login of the request has ended. The request is then not sent.
 */
export function deliver<R extends ClientResponse>(request: BearerRequest<R>): Promise<R> {
  try {
    const token = request.binding.access.peek()
    if (token === undefined || request.prover) request.detachFromCaller()
    return token === undefined ? afterToken(request) : sendWith(token, request)
  } catch (error) {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason of a caller's own signal may be anything
    return Promise.reject(request.errorForCaller(error))
  }
}

const afterToken = <R extends ClientResponse>(request: BearerRequest<R>): Promise<R> =>
  after(askToken, withToken, request)
const askToken = <R extends ClientResponse>(request: BearerRequest<R>, limits: WaitLimits) =>
  request.binding.access.get(limits)

/** Waits again if the token expired while the process was stalled. */
const withToken = <R extends ClientResponse>(token: string, request: BearerRequest<R>) =>
  request.binding.access.hasEnded(token) ? afterToken(request) : sendWith(token, request)

/** @throws {TokenError} `ERR_LOGIN_REQUIRED` or `ERR_LOGIN_REPLACED` if the login of the request has ended. */
function sendWith<R extends ClientResponse>(token: string, request: BearerRequest<R>): Promise<R> {
  request.generation = generationAtSending(request.binding, request.startGeneration)
  request.token = token
  return sendProven(request)
}

function sendProven<R extends ClientResponse>(request: BearerRequest<R>): Promise<R> {
  return request.prover ? after(askProof, withProof, request) : request.send(undefined)
}

const askProof = <R extends ClientResponse>(request: BearerRequest<R>, limits: WaitLimits) =>
  request.prover?.prove({ ...request.target(), token: request.token }, limits) ?? ''

/** @throws {TokenError} `ERR_LOGIN_REQUIRED` or `ERR_LOGIN_REPLACED` if the login ended while the key was signing. */
function withProof<R extends ClientResponse>(proof: string, request: BearerRequest<R>): Promise<R> {
  // Signing may take longer than the lifetime of the token.
  if (request.binding.access.hasEnded(request.token)) return afterToken(request)
  generationAtSending(request.binding, request.generation)
  return request.send(proof)
}

/**
 * Waits once. This is not an async function and its closures hold little, because thousands of requests may wait here.
 *
 * @param use Receives the token or the proof.
 */
function after<R extends ClientResponse, Result>(
  ask: (request: BearerRequest<R>, limits: WaitLimits) => Promise<string> | string,
  use: (result: string, request: BearerRequest<R>) => Result | Promise<Result>,
  request: BearerRequest<R>,
): Promise<Result> {
  const { clock, maxWaitMs } = request.binding.access
  const { signal, timeoutMs, forget } = request.limits()
  const startedAt = clock.monotonicNow()
  const leftMs = Math.max(0, Math.min(timeoutMs, maxWaitMs) - request.spentMs)
  const ended = () => {
    request.spentMs += clock.monotonicNow() - startedAt
    forget?.()
  }
  return promised(() => ask(request, { signal, maxWaitMs: leftMs })).then(
    (result) => {
      ended()
      try {
        // The process may have stalled past the request's own timeout.
        if (request.spentMs > timeoutMs) throw new TokenError('ERR_WAIT_TIMEOUT', TOO_LATE)
        return use(result, request)
      } catch (error) {
        throw request.errorForCaller(error)
      }
    },
    (error: unknown) => {
      ended()
      throw request.errorForCaller(error)
    },
  )
}
const TOO_LATE = 'The token arrived too late for this request'

/** Handles a response that the client resolved or rejected with. @returns what the caller receives */
export function received<R extends ClientResponse>(
  request: BearerRequest<R>,
  response: R,
  failure?: Failed,
): R | Promise<R> {
  const { binding } = request
  binding.prover?.observe(request.target(), response.status, (name) => request.headerOf(response, name))
  let isRejected: boolean | PromiseLike<boolean>
  try {
    const hasLeftOrigin = request.hasLeftOrigin(response)
    isRejected = !hasLeftOrigin && request.rejects(response)
    if (!hasLeftOrigin && isRejected === false && response.status < 300) binding.access.succeeded?.(request.token)
  } catch (error) {
    throw request.errorForCaller(error)
  }
  if (!isRejected) return surface(request, response, failure)
  return isPromise(isRejected)
    ? afterVerdict(request, isRejected, response, failure)
    : follow(request, response, failure)
}

async function afterVerdict<R extends ClientResponse>(
  request: BearerRequest<R>,
  verdict: PromiseLike<boolean>,
  response: R,
  failure: Failed,
): Promise<R> {
  const isRejected = await Promise.resolve(verdict).catch((error: unknown) => {
    request.finish()
    throw request.errorForCaller(error)
  })
  return isRejected ? follow(request, response, failure) : surface(request, response, failure)
}

/** Handles an error of fetch that may hide a 401. */
export function failed<R extends ClientResponse>(
  { binding, token, generation }: BearerRequest<R>,
  error: unknown,
): void {
  if (hidesRejection(error) && isStillOf(binding, generation)) binding.access.renewInBackground(token)
}

/** Passes the API's own response to the caller. */
function surface<R extends ClientResponse>(request: BearerRequest<R>, response: R, failure: Failed): R {
  request.finish()
  if (failure) throw failure.error
  return response
}

/** Carries out the retry decision after a response that rejects the token. */
async function follow<R extends ClientResponse>(request: BearerRequest<R>, response: R, failure: Failed): Promise<R> {
  const { binding, token, generation, isReplay, hasSecondProof, prover } = request
  const { access } = binding
  const challenge = request.headerOf(response, 'www-authenticate')
  access.challenged?.(challenge)
  let decision = retryDecisionOf({
    remedy: remedyOf(challenge),
    isOfThisLogin: isStillOf(binding, generation),
    isRepeatable: request.isRepeatable(response),
    isReplay,
    mayProveAgain: prover !== undefined && !hasSecondProof,
  })
  if (decision === 'replay') {
    let next = await another(request)
    // Waits again if the token expired while the process was stalled. Nothing is awaited between this check and the sending (F127).
    while (next !== undefined && access.hasEnded(next)) next = await another(request)
    decision = take(request, next)
  }
  if (decision === 'prove-again') request.hasSecondProof = true
  if (decision === 'replay' || decision === 'prove-again') {
    request.prepareReplay(response)
    return sendProven(request)
  }
  // This request is not sent again, but later requests need another token.
  if (decision !== 'surface') access.renewInBackground(token)
  if (decision === 'surface-again') access.anomaly('new-tokens-refused', NEW_TOKENS_REFUSED)
  if (await request.beforeSurface?.(response)) return sendProven(request)
  return surface(request, response, failure)
}

/** Gives the request the token that is valid now. @returns The next step. */
function take<R extends ClientResponse>(request: BearerRequest<R>, next: string | undefined): RetryDecision {
  // Without another token, the API's own response is the most useful one.
  if (next === undefined || !isStillOf(request.binding, request.generation)) return 'surface'
  if (next === request.token) return 'surface-again'
  Object.assign(request, { token: next, isReplay: true, hasSecondProof: false })
  return 'replay'
}

/** @returns A token other than the rejected one; undefined if there is none. @throws `signal.reason` if the caller aborts. */
async function another<R extends ClientResponse>(request: BearerRequest<R>): Promise<string | undefined> {
  try {
    return await after(askAnother, same, request)
  } catch {
    const { signal } = request
    if (signal?.aborted) throw reasonOf(signal)
    return undefined
  }
}
const askAnother = <R extends ClientResponse>(request: BearerRequest<R>, limits: WaitLimits) =>
  request.binding.access.replace(request.token, limits)
const same = (token: string) => token

/** The message of the anomaly `new-tokens-refused`. */
const NEW_TOKENS_REFUSED =
  'The API rejected an access token and its successor: check that the API and the token service belong together, the ' +
  'audience and scope of the tokens, and the clock of the API'
