import { checkNumber, checkObject, checkText, kindOf, readOptions } from '../core/option-checks.ts'
import type { AdoptedGrant } from '../core/token-source.ts'
import { holdersOfToken, memberOf, type Members, subjectIn, TWO_HOLDERS } from './document.ts'
import { ACCESS, lifetimeAmong, refreshLifetimeIn } from './lifetimes.ts'

/** Used for a response without a lifetime: the default of `defaultLifetimeMs`. */
const DEFAULT_LIFETIME_MS = 300_000
/** The year 5138. Milliseconds given instead of seconds are far beyond it. */
const LATEST_S = 100_000_000_000

/**
 * Converts a raw token response (RFC 6749, section 5.1), fresh or stored, to the argument of `adopt()`. Reads `access_token`,
 * `refresh_token`, `expires_in` (seconds, as a number or as text; else `expires_on`, `expires` or `.expires`), the refresh token lifetimes of Keycloak, GitHub
 * and QuickBooks, and `sub` of the `id_token`, whose signature is not verified. `expires_at` (epoch seconds) wins over `expires_in`. `null` counts as absent.
 *
 * @example
 * ```ts
 * import { fromTokenResponse } from 'axios-evergreen/oauth2'
 *
 * const response = { access_token: 'a', expires_in: 3600, refresh_token: 'r' } // from the token endpoint
 * await tokens.adopt(fromTokenResponse(response)) // if it was stored: fromTokenResponse(response, { receivedAt: savedAt })
 * ```
 * @param options `receivedAt`: when the response arrived, epoch ms. Default: now.
 * @throws {TypeError | RangeError} naming the member that is missing or cannot be used.
 */
export function fromTokenResponse(
  response: Readonly<Record<string, unknown>>,
  options: { receivedAt?: number | undefined } = {},
): AdoptedGrant {
  checkObject('The response', response)
  const now = Date.now()
  const { receivedAt } = readOptions('fromTokenResponse', options, {
    receivedAt: (_, at = now) => checkNumber('receivedAt', at, 0),
  })
  const ageMs = Math.max(0, now - receivedAt)
  const [document = response, another] = holdersOfToken(response)
  if (another) throw new TypeError(`The response cannot be used, because ${TWO_HOLDERS}: pass the one that you mean`)
  const [accessToken, refreshToken] = [tokenIn(document, 'access_token'), tokenIn(document, 'refresh_token')]
  if (accessToken === undefined && refreshToken === undefined)
    throw new TypeError('The response must have access_token or refresh_token: is it a response of a token endpoint?')
  const refreshLifetimeMs = refreshLifetimeIn(document, now - ageMs)
  const subject = subjectIn(document)
  return {
    ...(accessToken !== undefined && { accessToken, accessLifetimeMs: lifetimeLeft(document, now, ageMs) }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(refreshLifetimeMs !== undefined && { refreshLifetimeMs: refreshLifetimeMs - ageMs }),
    ...(subject !== undefined && { subject }),
  }
}

function tokenIn(response: Members, name: string): string | undefined {
  const token = memberOf(response, name)
  if (token === undefined || token === '') return undefined
  checkText(name, token)
  return token
}

/** @returns How long the access token still lives, ms; 0 or less if it has expired. `expires_at` comes first, because it is the only instant in a stored response. */
function lifetimeLeft(response: Members, now: number, ageMs: number): number {
  const expiresAt = memberOf(response, 'expires_at')
  if (typeof expiresAt !== 'object' && Number(expiresAt) > LATEST_S)
    throw new RangeError(`expires_at must be epoch seconds, got ${Number(expiresAt)}: are these milliseconds?`)
  for (const name of ['expires_at', ...ACCESS]) {
    const found = lifetimeAmong(response, [name], now - ageMs)
    if (found) return found.ms - ageMs
    const value = memberOf(response, name)
    if (value !== undefined && STRICT.includes(name))
      throw new TypeError(
        `${name} must be a number of seconds, got ${typeof value === 'string' ? 'another string' : kindOf(value)}`,
      )
  }
  return DEFAULT_LIFETIME_MS - ageMs
}

/** Members whose values are validated. The other members have no defined format. */
const STRICT = ['expires_at', 'expires_in']
