import { withinLimit } from './deadline.ts'
import { outcomeOf, toldAgain, TokenError } from './errors.ts'
import type { Events } from './events.ts'
import { LONGEST_LIFETIME_MS } from './freshness.ts'
import type { RenewalSettings } from './renewal-settings.ts'
import { isOffline } from './runtime.ts'
import { checkedGrant, type TokenGrant } from './token-source.ts'
import type { NewTokens } from './token-store.ts'

/** No service issues shorter tokens on purpose: the source gave seconds for milliseconds. */
const ODD_LIFETIME_MS = 5_000

/**
 * Makes one exchange: a refresh if a refresh token is given, else an obtain. Our own deadline ends it, because a source may
 * ignore its signal, and the timeout of axios does not end a body that drips.
 *
 * @throws {TokenError} What the source throws, as `readThrown` reads it; `ERR_TOKEN_SERVICE_UNAVAILABLE` at the deadline;
 * `ERR_TOKEN_RESPONSE` or `ERR_TOKEN_SOURCE` for a grant that cannot be used.
 */
export async function exchange(
  { source, clock, tokenClock, events, exchangeTimeoutMs, readThrown }: RenewalSettings,
  refreshToken: string | undefined,
  holdsProcess: boolean,
): Promise<NewTokens> {
  const deadline = new AbortController()
  const context = Object.freeze({
    signal: deadline.signal,
    clock,
    holdsProcess,
    report: (...odd: Parameters<Events['anomaly']>) => void events.anomaly(...odd),
  })
  const atLimit = () => {
    const message = `The token call had no complete answer within ${exchangeTimeoutMs} ms, credentials function included`
    const error = new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', message, { outcome: 'unknown' })
    deadline.abort(error)
    return error
  }
  // Lifetimes count from this moment. Counted from the answer they would be too long by the time of the call.
  const sentAt = tokenClock.start()
  const call = async () =>
    source.refresh && refreshToken !== undefined ? source.refresh(refreshToken, context) : source.obtain(context)
  const wasOffline = isOffline()
  try {
    const grant = checkedGrant(await withinLimit(call(), { clock, ms: exchangeTimeoutMs, atLimit }))
    return newTokens(grant, events, tokenClock.now() - sentAt)
  } catch (thrown) {
    const error = readThrown(thrown, refreshToken === undefined ? 'obtain' : 'refresh')
    throw wasOffline && isOffline() ? errorOffline(error) : error
  }
}

/** XMLHttpRequest and fetch do not say why there was no answer. Offline, no request byte has left: the refresh token is untouched. */
function errorOffline(error: TokenError): TokenError {
  const { code, status } = error
  const isUnclear = code === 'ERR_TOKEN_SERVICE_UNAVAILABLE' && status === undefined && outcomeOf(error) === 'unknown'
  return isUnclear ? toldAgain(error, { outcome: 'not-sent' }) : error
}

/** What is stored of a grant. Reports a lifetime that looks like seconds. @param ageMs How long the grant has lived. */
export function newTokens(grant: Readonly<TokenGrant>, events: Events, ageMs = 0): NewTokens {
  const { accessToken, refreshToken, refreshLifetimeMs } = grant
  if (grant.accessLifetimeMs < ODD_LIFETIME_MS)
    events.anomaly(
      'lifetime-odd',
      `An access token lives ${grant.accessLifetimeMs} ms only: did the source give seconds?`,
    )
  const accessLifetimeMs = Math.min(grant.accessLifetimeMs, LONGEST_LIFETIME_MS)
  return {
    accessToken,
    accessLifetimeMs,
    accessRemainingMs: accessLifetimeMs - ageMs,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(refreshLifetimeMs !== undefined && { refreshRemainingMs: refreshLifetimeMs - ageMs }),
  }
}
