import { detailsOf, isTokenError, TokenError, type TokenErrorCode, type TokenErrorDetails } from '../core/errors.ts'
import { member } from '../core/thrown.ts'
import { CLAIMS } from '../core/token-source.ts'
import type { LoginEvents } from '../core/events.ts'
import type { LoginStatus } from '../core/status.ts'

/** The parts of a `MessagePort` that are used here, in browsers and Node. */
export interface Port extends Listened {
  postMessage(message: unknown, transfer?: readonly object[]): void
  start(): void
  close(): void
  /** Node only. */
  unref?(): void
}
/** Receives the messages of pages. */
export interface Listened {
  addEventListener(type: string, listener: (event: Message) => void): void
  removeEventListener(type: string, listener: (event: Message) => void): void
}
export interface Message {
  readonly data?: unknown
  readonly origin?: string
  readonly ports?: readonly Port[]
  /** Keeps a service worker alive until this work has ended. */
  waitUntil?(work: Promise<unknown>): void
}

/** One login of one worker. A restarted worker counts from the beginning, so the worker's name is included. */
export interface Login {
  readonly worker: string
  readonly generation: number
}
export const isSame = (one: Login | undefined, other: Login | undefined) =>
  one?.worker === other?.worker && one?.generation === other?.generation

/** A request of a page, sent under `REQUEST_KEY`, with a port for the response. */
export interface PageRequest {
  readonly name: string
  readonly given?: unknown
  /** The login that the page addresses. Undefined: that of its last act, which has no response yet. */
  readonly login?: Login | undefined
  /** The caller asked after that login had ended, and waits for the next one. */
  readonly isOfNext?: boolean
  /** Names the page. */
  readonly page: string
}
export const REQUEST_KEY = 'axios-evergreen'

/** The state of the worker's manager, sent with each message. Messages on several ports may arrive out of order: `at` numbers them. */
export interface State {
  readonly login: Login
  readonly at: number
  /** Whether new callers wait for the next login (`LoginGenerations.isAwaited`). */
  readonly isLoginAwaited: boolean
  readonly status: LoginStatus
  /** The remaining lifetime of the access token, ms. */
  readonly livesMs: number
  readonly hasLogins: boolean
  readonly maxWaitMs: number
  readonly origin?: string | undefined
}

export interface WorkerResponse {
  readonly state: State
  readonly value?: unknown
  readonly error?: TransferredError
  /** After `adopt`, `logout` and `reset`: the resulting login. */
  readonly own?: Login | undefined
  /** Until this request the worker sent no events to this page: the worker has restarted, or had removed this page, which was silent. */
  readonly isUnknown: boolean
}
export interface Notification {
  readonly state: State
  readonly event: readonly [name: keyof LoginEvents, event: object]
}

/** An error as it crosses a port: the structured clone of an error loses all members but its message. */
export interface TransferredError extends Omit<TokenErrorDetails, 'cause'> {
  readonly name: string
  readonly code?: TokenErrorCode
  readonly message: string
  readonly claims?: string | undefined
}

/** Converts an error, without its cause. */
export function transferred(error: unknown): TransferredError {
  const { name, message } = error instanceof Error ? error : new Error('The worker threw a value that is not an Error')
  if (!isTokenError(error)) return { name, message }
  const { cause, ...details } = detailsOf(error)
  return {
    name,
    code: error.code,
    message,
    ...details,
    claims: (member(cause, CLAIMS) as (() => string) | undefined)?.(),
  }
}

export function restored({ name, code, message, claims, ...details }: TransferredError): Error {
  if (!code) return new ({ TypeError, RangeError }[name] ?? Error)(message)
  // The claims are on the cause, because the copies of the error for callers keep its cause.
  const cause = claims
    ? Object.defineProperty(new TokenError(code, message), CLAIMS, { value: () => claims })
    : undefined
  return new TokenError(code, message, { ...details, cause })
}

export function closed(): TokenError {
  return new TokenError('ERR_CLOSED', 'The page closed its token manager')
}
