import type { Account } from './account.ts'
import { TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'
import type { HeldToken } from './held-token.ts'
import type { Machine } from './machine.ts'
import { ownOption } from './option-checks.ts'
import { admission, isDenial, isReplacing } from './status.ts'
import { waitMsOf, type WaitOptions } from './waiting-room.ts'
import { isWithin } from './within-call.ts'

/**
 * The idea of this package: a caller takes the current token, or waits for the next one.
 *
 * When renewal is due, a caller starts it and takes the old token. When the token has expired, callers wait for that renewal, which all of them share. The
 * renewal (`renewal.ts`) acquires the lease, has the source make one exchange, and gives the tokens to the record. Then `machine.ts` holds the new token,
 * sets a timer for the next renewal, and resolves the waiting callers. All other files in this folder handle what may go wrong along the way.
 *
 * @param generation The login generation of the caller.
 */
export function serve(account: Account, machine: Machine, generation: number, options: WaitOptions | undefined) {
  return take(account, machine) ?? wait(account, machine, causeFor(account.current), generation, options, true)
}

/** Returns the token if a request may use it now. If renewal is due, starts it. */
export function take(account: Account, machine: Machine): string | undefined {
  const { current } = account
  if (!current) return undefined
  const { freshness } = current
  if (freshness === 'expired') return undefined
  current.used = true
  // The API would reject the token, and a request with a body that can be sent only once would be lost.
  if (current.isRejected && isReplacing(account)) return undefined
  const isWanted = freshness === 'due' || current.mustRenew
  if (isWanted && admission(account, machine.now) === 'start') {
    if (!account.settings.renewal.background) return undefined
    machine.renew('due')
  }
  return current.stored.accessToken
}

/**
 * Waits for the renewal that all callers share. Not an async function: each of ten thousand waiting callers would hold one more promise.
 *
 * @param mayKeep Whether the caller takes the old token if no new one arrives in time.
 */
export function wait(
  account: Account,
  machine: Machine,
  because: RenewalCause,
  generation: number,
  options: WaitOptions | undefined,
  mayKeep?: boolean,
): Promise<string> | string {
  const { current, settings } = account
  const signal = ownOption(options, 'signal')
  const { now } = machine
  const limit = now + waitMsOf(options, settings.renewal.maxWaitMs)
  const validToken = mayKeep ? current?.validToken : undefined
  if (isWithin(account)) return validToken ?? waitForItself()
  const admitted = admissionOf(account, machine, limit, because === 'forced')
  if (isDenial(admitted) && validToken === undefined) {
    machine.logins.concludeLoss?.()
    throw settings.events.refused(machine.denial(admitted), because)
  }
  if (admitted === 'start') machine.renew(because)
  account.renewal?.hurry(limit)
  // A caller with a valid token waits for at most `exchangeTimeoutMs`, and no longer than until the token has a third of `hardSkewMs` left. Then it takes
  // that token.
  const patienceMs = validToken === undefined ? Infinity : patienceOf(account)
  if (validToken !== undefined && (isDenial(admitted) || patienceMs <= 0)) return validToken
  const token = machine.room.share({ limit, keepAt: now + patienceMs, signal, generation })
  settings.events.watcher?.wait(token, because)
  return token
}

function patienceOf({ current, settings }: Account): number {
  return Math.min(current?.patienceMs ?? 0, settings.exchangeTimeoutMs)
}

/** Whether a caller may start or join a renewal. A cool-down that lasts only while the token is usable ends when the API rejects the token. */
export function admissionOf(account: Account, machine: Machine, limit?: number, isForced = false) {
  const { backoff, current } = account
  const isBackoffOver = backoff?.whileUsable === true && current?.isRejected === true
  return admission(account, machine.now, limit, isForced || isBackoffOver)
}

/** Why a caller to whom `take` returned no token needs a renewal. */
function causeFor(current: HeldToken | undefined): RenewalCause {
  if (!current) return 'cold'
  if (current.freshness === 'expired') return 'expired'
  return current.mustRenew || current.isRejected ? 'refused' : 'due'
}

/** Called when the source waits for the manager during its own token request. @throws {TokenError} (F309, F404) */
export function waitForItself(): never {
  const message =
    'The token source waits for itself: its token request calls this manager, or an instance attached to it. Use a plain instance'
  throw new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'not-sent' })
}
