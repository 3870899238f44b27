import { TokenError } from '../../evergreen.mjs'

const LIFETIME_MS = 60_000
const REFRESH_LIFETIME_MS = 6 * 3_600_000

/**
 * A token source whose token service is temporarily unavailable. With `pairs` the service issues refresh tokens. Each is valid for one exchange that the
 * service performs, whether or not the response arrives.
 */
export function awayForAWhile({ clock, draw, pairs, latencyMs, kind, startAt, endAt }) {
  /** Times of token requests. */
  const calls = []
  const spendable = new Set()
  let issued = 0

  const issue = () => {
    issued += 1
    const grant = { accessToken: `a${issued}`, accessLifetimeMs: LIFETIME_MS }
    if (!pairs) return grant
    spendable.add(`r${issued}`)
    return { ...grant, refreshToken: `r${issued}`, refreshLifetimeMs: REFRESH_LIFETIME_MS }
  }
  const exchange = async (refreshToken) => {
    const at = clock.monotonicNow()
    calls.push(at)
    const fault = at >= startAt && at < endAt ? FAULTS[kind](draw) : undefined
    const acts = !fault || (fault.mayAct && draw.happens(0.3))
    const isGood = refreshToken === undefined || spendable.has(refreshToken)
    if (acts) spendable.delete(refreshToken)
    if (fault?.isSilent) return new Promise(() => undefined)
    await new Promise((resolve) => clock.setTimer(resolve, fault?.takesMs ?? latencyMs))
    if (fault) throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', fault.outcome, fault)
    if (!isGood) throw new TokenError('ERR_REFRESH_REJECTED', 'spent', { outcome: 'rejected', status: 401 })
    return issue()
  }
  const source = { id: 'away for a while', obtain: () => exchange() }
  if (pairs) source.refresh = (refreshToken) => exchange(refreshToken)
  return { source, calls }
}

const refused = { outcome: 'not-sent' }
const reset = { outcome: 'unknown', mayAct: true }
const unavailable = { outcome: 'unknown-5xx', status: 503, mayAct: true }

/** The fault of one token request, by kind of outage. */
const FAULTS = {
  refused: () => refused,
  reset: () => reset,
  503: () => unavailable,
  mixed: (draw) => draw.oneOf([refused, reset, unavailable]),
  'no answer': () => ({ isSilent: true, mayAct: true }),
  slow: (draw) => ({ ...unavailable, takesMs: draw.between(1_000, 9_000) }),
}
