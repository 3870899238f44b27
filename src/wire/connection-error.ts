import type { TokenError } from '../core/errors.ts'
import { type Meaning, UNFINISHED } from './meaning.ts'
import { failureOfNetwork } from './network-failure.ts'
import { CHECK_PROXY } from './proxy.ts'
import { toError } from './to-error.ts'

/**
 * The error of a token request that got no complete response. It keeps only the code of the failure: an axios error contains the whole request, and so do
 * messages of mocking libraries.
 */
export function connectionError(
  thrown: unknown,
  address: string,
  status: number | undefined,
  proxy?: string,
): TokenError {
  const { errorCode = 'no error code', advice, ...failure } = failureOfNetwork(thrown)
  // If there is a status, the request was sent.
  const known: Meaning = status === undefined ? failure : UNFINISHED
  const notSent = known.outcome === 'not-sent'
  const what = notSent ? 'could not be reached' : status === undefined ? 'did not respond' : 'broke off its response'
  const happened = [`${address} ${what} (${errorCode})`, proxy].filter((part) => part !== undefined).join(' ')
  const toDo = advice ?? (proxy && CHECK_PROXY)
  const message = toDo === undefined ? happened : `${happened}: ${toDo}`
  return toError(known, message, { status })
}

/** The error if the deadline passed before the request was sent, e.g. while it waited for credentials. */
export function deadlineError(address: string): TokenError {
  const message = `The deadline passed before the request was sent: ${address}`
  return toError({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent' }, message)
}
