import { checkNumber, checkObject, checkText, kindOf, ownOption } from '../core/option-checks.ts'
import type { AdoptedGrant } from '../core/token-source.ts'
import { holdersOfToken, memberOf, type Members, subjectIn, TWO_HOLDERS } from './document.ts'
import { ACCESS, lifetimeAmong, refreshLifetimeIn } from './lifetimes.ts'

/** An answer without a lifetime counts as one of the source: `defaultLifetimeMs`. */
const DEFAULT_LIFETIME_MS = 300_000
/** The year 5138. Milliseconds in the place of seconds lie far beyond it. */
const LATEST_S = 100_000_000_000

/**
 * Turns the raw answer of a token endpoint (RFC 6749, section 5.1), or a stored one, into what `adopt()` takes. Reads `access_token`,
 * `refresh_token`, `expires_in` (a number of seconds or its text; else `expires_on`, `expires` or `.expires`), the lifetimes of refresh tokens that Keycloak, GitHub and QuickBooks send, and `sub` of the
 * `id_token`, whose signature is not verified. `expires_at` (epoch seconds) wins over `expires_in`. `null` counts as absent.
 *
 * @example
 * ```ts
 * import { fromTokenResponse } from 'axios-evergreen/oauth2'
 *
 * const answer = { access_token: 'a', expires_in: 3600, refresh_token: 'r' } // of the token endpoint
 * await tokens.adopt(fromTokenResponse(answer)) // or, of one that was stored: fromTokenResponse(answer, { receivedAt: savedAt })
 * ```
 * @param options `receivedAt`: when the answer came, epoch ms. Default: now.
 * @throws {TypeError | RangeError} naming the member that is missing or cannot be used.
 */
export function fromTokenResponse(
  answer: Readonly<Record<string, unknown>>,
  options?: { receivedAt?: number | undefined },
): AdoptedGrant {
  checkObject('The answer', answer)
  const now = Date.now()
  const receivedAt = ownOption(options, 'receivedAt') ?? now
  checkNumber('receivedAt', receivedAt, 0)
  const ageMs = Math.max(0, now - receivedAt)
  const [document = answer, another] = holdersOfToken(answer)
  if (another) throw new TypeError(`The answer cannot be used, because ${TWO_HOLDERS}: give the one that is meant`)
  const [accessToken, refreshToken] = [tokenIn(document, 'access_token'), tokenIn(document, 'refresh_token')]
  if (accessToken === undefined && refreshToken === undefined)
    throw new TypeError('The answer must have access_token or refresh_token: is it the answer of a token endpoint?')
  const refreshLifetimeMs = refreshLifetimeIn(document, now - ageMs)
  const subject = subjectIn(document)
  return {
    ...(accessToken !== undefined && { accessToken, accessLifetimeMs: lifetimeLeft(document, now, ageMs) }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(refreshLifetimeMs !== undefined && { refreshLifetimeMs: refreshLifetimeMs - ageMs }),
    ...(subject !== undefined && { subject }),
  }
}

function tokenIn(answer: Members, name: string): string | undefined {
  const token = memberOf(answer, name)
  if (token === undefined || token === '') return undefined
  checkText(name, token)
  return token
}

/** @returns How long the access token still lives, ms; 0 or less if it has expired. `expires_at` comes first: a stored answer may have no other instant. */
function lifetimeLeft(answer: Members, now: number, ageMs: number): number {
  const expiresAt = memberOf(answer, 'expires_at')
  if (typeof expiresAt !== 'object' && Number(expiresAt) > LATEST_S)
    throw new RangeError(`expires_at must be epoch seconds, got ${Number(expiresAt)}: are these milliseconds?`)
  for (const name of ['expires_at', ...ACCESS]) {
    const told = lifetimeAmong(answer, [name], now - ageMs)
    if (told) return told.ms - ageMs
    const value = memberOf(answer, name)
    if (value !== undefined && STRICT.includes(name))
      throw new TypeError(
        `${name} must be a number of seconds, got ${typeof value === 'string' ? 'another text' : kindOf(value)}`,
      )
  }
  return DEFAULT_LIFETIME_MS - ageMs
}

/** What stands in the other members is not known well enough to be wrong. */
const STRICT = ['expires_at', 'expires_in']
