import { TokenError } from './errors.ts'
import type { Events } from './events.ts'
import type { ManagerSettings } from './manager-options.ts'
import { checkedGrant, type TokenGrant } from './token-source.ts'

/**
 * One exchange: a refresh where a refresh token is given, else an obtain. Ended by our own deadline, because a source may
 * ignore its signal, and axios' timeout lets a body drip.
 *
 * @throws whatever the source throws; {TokenError} `ERR_TOKEN_SERVICE_UNAVAILABLE` at the deadline, `ERR_TOKEN_RESPONSE` for
 * a grant that cannot be used.
 */
export async function exchange(
  { source, clock, events, exchangeTimeoutMs }: ManagerSettings & { readonly events: Events },
  refreshToken: string | undefined,
): Promise<Readonly<TokenGrant>> {
  const deadline = new AbortController()
  const context = Object.freeze({
    signal: deadline.signal,
    clock,
    report: (...odd: Parameters<Events['anomaly']>) => void events.anomaly(...odd),
  })
  let cancel = (): void => undefined
  const late = new Promise<never>((_, reject) => {
    cancel = clock.setTimer(() => {
      const message = `The token call had no complete answer within ${exchangeTimeoutMs} ms`
      const error = new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', message, { outcome: 'unknown' })
      reject(error)
      deadline.abort(error)
    }, exchangeTimeoutMs)
  })
  try {
    const call =
      source.refresh && refreshToken !== undefined ? source.refresh(refreshToken, context) : source.obtain(context)
    return checkedGrant(await Promise.race([late, call]))
  } finally {
    cancel()
  }
}
