import { reasonOf } from '../core/deadline.ts'
import { TokenError } from '../core/errors.ts'
import { isPromise } from '../core/thrown.ts'
import { hidesRejection } from './bodies.ts'
import { remedyOf } from './challenges.ts'
import { type OriginBinding, isStillOf, generationAtSending } from './origin-binding.ts'
import { promised } from './promised.ts'
import type { SentRequest } from '../core/proofs.ts'
import type { Prover } from './key-port.ts'
import { retryDecisionOf } from './retry-decision.ts'
import type { WaitLimits } from './token-access.ts'

/** What a client library calls a response. */
interface Answer {
  readonly status: number
}

/** What limits the waits of one request. */
export interface RequestLimits {
  readonly signal: AbortSignal | undefined
  /** The timeout of the request itself; Infinity if it has none. */
  readonly timeoutMs: number
  /** Called when a wait has ended. */
  readonly forget?: (() => void) | undefined
}

/** What the client rejected with, if it did not return the response. */
export type Failed = { readonly error: unknown } | undefined

/**
 * One request with a token, and how its client library sends it. The only object that is made for each request: ten thousand of them may wait. `deliver`
 * sends it, and the client calls `answered` or `failed`.
 */
export abstract class BearerRequest<A extends Answer> {
  readonly binding: OriginBinding<A>
  /** The mark under which the request began. */
  readonly startGeneration: number | undefined
  /** Undefined if the request has no proof, or one of its own. */
  readonly prover: Prover | undefined
  /** That of its latest sending. */
  token = ''
  /** The mark under which it counts since its first sending. */
  generation: number | undefined
  isReplay = false
  /** Whether this token has had a second proof. */
  hasSecondProof = false
  /** How long it has waited: one budget for the first token, for that of the replay, and for proofs. */
  spentMs = 0

  constructor(binding: OriginBinding<A>, startGeneration: number | undefined, prover = binding.prover) {
    this.binding = binding
    this.startGeneration = startGeneration
    this.prover = prover
    this.generation = startGeneration
  }

  /** The signal of the caller. */
  abstract readonly signal: AbortSignal | undefined
  /** Calls the client, with the token on the request. */
  abstract send(proof: string | undefined): Promise<A>
  /** Called before the request is sent once more: discards the answer. */
  abstract prepareReplay(answer: A): void
  abstract limits(): RequestLimits
  /** What a proof names of the request. */
  abstract target(): SentRequest
  abstract headerOf(answer: A, name: string): unknown
  /** Whether a redirect has led to another origin: its answer says nothing about the token. */
  abstract hasLeftOrigin(answer: A): boolean
  /** Whether the body can be sent a second time, and no redirect can have turned the request into another one. */
  abstract isRepeatable(answer: A): boolean
  /** What the caller gets of an error that is none of the client. */
  abstract errorForCaller(error: unknown): unknown

  /** Called before `send`, if that does not follow in the turn of the call. */
  detachFromCaller(): void {
    // Not every client keeps what its caller may change.
  }

  /** Called before the caller gets the answer. */
  finish(): void {
    // Not every client keeps something for a replay.
  }
}

/**
 * Sends a request with a token, in this very turn if one is at hand and no key signs. If the API refuses the token and another one can be had, sends
 * it once more.
 *
 * @throws {TokenError} (as a rejection) if no token can be had, or if the login of the request has ended. Then the request is not sent.
 */
export function deliver<A extends Answer>(request: BearerRequest<A>): Promise<A> {
  try {
    const token = request.binding.access.peek()
    if (token === undefined || request.prover) request.detachFromCaller()
    return token === undefined ? afterToken(request) : sendWith(token, request)
  } catch (error) {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the reason of a caller's own signal may be anything
    return Promise.reject(request.errorForCaller(error))
  }
}

const afterToken = <A extends Answer>(request: BearerRequest<A>): Promise<A> => after(askToken, withToken, request)
const askToken = <A extends Answer>(request: BearerRequest<A>, limits: WaitLimits) => request.binding.access.get(limits)

/** Waits again if the process stalled until the token had expired. */
const withToken = <A extends Answer>(token: string, request: BearerRequest<A>) =>
  request.binding.access.hasEnded(token) ? afterToken(request) : sendWith(token, request)

/** @throws {TokenError} `ERR_LOGIN_REQUIRED` if the login of the request has ended. */
function sendWith<A extends Answer>(token: string, request: BearerRequest<A>): Promise<A> {
  request.generation = generationAtSending(request.binding, request.startGeneration)
  request.token = token
  return sendProven(request)
}

function sendProven<A extends Answer>(request: BearerRequest<A>): Promise<A> {
  return request.prover ? after(askProof, withProof, request) : request.send(undefined)
}

const askProof = <A extends Answer>(request: BearerRequest<A>, limits: WaitLimits) =>
  request.prover?.prove({ ...request.target(), token: request.token }, limits) ?? ''

/** @throws {TokenError} `ERR_LOGIN_REQUIRED` if the login ended while the key signed: whose it is, is looked at where it is sent. */
function withProof<A extends Answer>(proof: string, request: BearerRequest<A>): Promise<A> {
  // The key may need longer than the token lives.
  if (request.binding.access.hasEnded(request.token)) return afterToken(request)
  generationAtSending(request.binding, request.generation)
  return request.send(proof)
}

/**
 * Makes one wait. Not an async function, and with little in its closures.
 *
 * @param use What becomes of the token or proof that was asked for.
 */
function after<A extends Answer, Result>(
  ask: (request: BearerRequest<A>, limits: WaitLimits) => Promise<string> | string,
  use: (brought: string, request: BearerRequest<A>) => Result | Promise<Result>,
  request: BearerRequest<A>,
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
    (brought) => {
      ended()
      try {
        // The process may have stalled beyond the request's own timeout.
        if (request.spentMs > timeoutMs) throw new TokenError('ERR_WAIT_TIMEOUT', TOO_LATE)
        return use(brought, request)
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
const TOO_LATE = 'The token came too late for this request'

/** The client has given this answer, or has rejected with it. @returns what the caller gets */
export function received<A extends Answer>(request: BearerRequest<A>, answer: A, failure?: Failed): A | Promise<A> {
  const { binding } = request
  binding.prover?.hear(request.target(), answer.status, (name) => request.headerOf(answer, name))
  let isRejected: boolean | PromiseLike<boolean>
  try {
    const hasLeftOrigin = request.hasLeftOrigin(answer)
    isRejected = !hasLeftOrigin && binding.refuses(answer)
    if (!hasLeftOrigin && isRejected === false && answer.status < 300) binding.access.succeeded?.(request.token)
  } catch (error) {
    throw request.errorForCaller(error)
  }
  if (!isRejected) return surfaced(request, answer, failure)
  return isPromise(isRejected) ? judged(request, isRejected, answer, failure) : follow(request, answer, failure)
}

async function judged<A extends Answer>(
  request: BearerRequest<A>,
  verdict: PromiseLike<boolean>,
  answer: A,
  failure: Failed,
): Promise<A> {
  const isRejected = await Promise.resolve(verdict).catch((error: unknown) => {
    throw request.errorForCaller(error)
  })
  return isRejected ? follow(request, answer, failure) : surfaced(request, answer, failure)
}

/** The client has rejected without an answer. */
export function failed<A extends Answer>({ binding, token, generation }: BearerRequest<A>, error: unknown): void {
  if (hidesRejection(error) && isStillOf(binding, generation)) binding.access.renewInBackground(token)
}

/** Gives the API's own answer to the caller. */
function surfaced<A extends Answer>(request: BearerRequest<A>, answer: A, failure: Failed): A {
  request.finish()
  if (failure) throw failure.error
  return answer
}

/** Does what follows an answer that refuses the token. */
async function follow<A extends Answer>(request: BearerRequest<A>, answer: A, failure: Failed): Promise<A> {
  const { binding, token, generation, isReplay, hasSecondProof, prover } = request
  const { access } = binding
  let decision = retryDecisionOf({
    remedy: remedyOf(request.headerOf(answer, 'www-authenticate')),
    isOfThisLogin: isStillOf(binding, generation),
    isRepeatable: request.isRepeatable(answer),
    isReplay,
    mayProveAgain: prover !== undefined && !hasSecondProof,
  })
  if (decision === 'replay') {
    let next = await another(request)
    // Waits again if the process stalled until the token had expired.
    while (next !== undefined && access.hasEnded(next)) next = await another(request)
    // Without another token the API's own answer tells the caller most.
    if (next === undefined || !isStillOf(binding, generation)) decision = 'surface'
    else if (next === token) decision = 'surface-again'
    else Object.assign(request, { token: next, isReplay: true, hasSecondProof: false })
  }
  switch (decision) {
    case 'prove-again':
      request.hasSecondProof = true
      break
    case 'replay':
      break
    case 'surface-again':
      access.anomaly('new-tokens-refused', NEW_TOKENS_REFUSED)
      return surfaced(request, answer, failure)
    case 'renew-in-background':
      // This request must not be sent again. Later requests get another token.
      access.renewInBackground(token)
      return surfaced(request, answer, failure)
    case 'surface':
      return surfaced(request, answer, failure)
  }
  request.prepareReplay(answer)
  return sendProven(request)
}

/** @returns Another token than the refused one; undefined if there is none. @throws `signal.reason` when the caller gives up */
async function another<A extends Answer>(request: BearerRequest<A>): Promise<string | undefined> {
  try {
    return await after(askAnother, same, request)
  } catch {
    const { signal } = request
    if (signal?.aborted) throw reasonOf(signal)
    return undefined
  }
}
const askAnother = <A extends Answer>(request: BearerRequest<A>, limits: WaitLimits) =>
  request.binding.access.replace(request.token, limits)
const same = (token: string) => token

/** What the anomaly `new-tokens-refused` says. */
const NEW_TOKENS_REFUSED =
  'The API refused an access token and its successor: check that the API and the token service belong to the same environment, the ' +
  'audience and scope of the tokens, and the clock of the API'
