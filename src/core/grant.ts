import { TokenError } from './errors.ts'
import { kindOf, namesOf } from './option-checks.ts'
import { member, quietly } from './thrown.ts'
import { bare, type Whole } from './whole.ts'
import {
  type AdoptedGrant,
  type GrantDetails,
  GRANT_DETAILS,
  type DetailedGrant,
  type TokenGrant,
} from './token-source.ts'

/** A member of a grant is missing or has the wrong type: the source is at fault, not the service. */
class BrokenGrant extends TypeError {}
/** A member of a grant has an unusable value. */
class UnusableGrant extends TypeError {}

/** A grant that was read part by part. */
export interface ReadGrant extends GrantDetails {
  /** If there is a `flaw`, the grant has no access token. */
  readonly grant: Readonly<TokenGrant>
  /** Problems with members that were left out, or replaced with an assumed value. */
  readonly problems: readonly string[]
}

/** The assumed lifetime of an access token whose source returns no positive, finite lifetime, ms. */
const ASSUMED_LIFETIME_MS = 300_000

/**
 * Reads the grant of a source. If a refresh returned a new refresh token, the old one is spent, so the new one must be kept whatever else is wrong with
 * the response (F345). Otherwise the response is used as a whole or not at all.
 *
 * @param presented The refresh token that the exchange presented.
 * @throws {TokenError} The `flaw`. `ERR_TOKEN_SOURCE` if a member is missing or has the wrong type: the source is broken. `ERR_TOKEN_RESPONSE` if
 * a value is unusable. The outcome is `unknown`: the service may have rotated the refresh token.
 */
export function grantOfSource(given: DetailedGrant | undefined, presented: string | undefined): Whole<ReadGrant> {
  const details = bare((member(given, GRANT_DETAILS) ?? {}) as GrantDetails)
  const { flaw } = details
  const problems: string[] = []
  const parts: Partial<TokenGrant> = bare({})
  let isSpent = false
  try {
    const members = membersOf(given)
    Object.assign(parts, rotatedIn(members, presented))
    isSpent = parts.refreshToken !== undefined
    if (flaw && !isSpent) throw flaw
    const assumed = isSpent ? assumedIn(members) : undefined
    if (assumed && !flaw) problems.push(assumed.problem)
    for (const read of [refreshIn, subjectIn, contextIn])
      Object.assign(parts, isSpent ? orAbsent(read, members, problems) : read(members))
    if (flaw) throw flaw
    const access = accessIn({ ...members, ...assumed?.lifetime }, given)
    const grant = Object.freeze(bare({ ...access, ...dueIn(members), ...parts }))
    return { flaw, isLifetimeAssumed: assumed ? true : details.isLifetimeAssumed, grant, problems }
  } catch (thrown) {
    const error = errorOf(thrown)
    if (!isSpent) throw error
    const grant = Object.freeze(bare({ ...NO_ACCESS_TOKEN, ...parts }))
    return { flaw: error, isLifetimeAssumed: details.isLifetimeAssumed, grant, problems }
  }
}

/** The refresh token that replaced the presented one. */
function rotatedIn(members: Members, presented: string | undefined): Pick<TokenGrant, 'refreshToken'> {
  const next = quietly(() => refreshIn({ ...members, refreshLifetimeMs: undefined }))
  return bare(presented !== undefined && next?.refreshToken !== presented ? { ...next } : {})
}

/** The assumed lifetime if the given one is unusable. */
function assumedIn({ accessLifetimeMs: ms }: Members) {
  if (typeof ms !== 'number' || (ms > 0 && ms < Infinity)) return undefined
  const problem = `accessLifetimeMs must be positive and finite, got ${ms}: ${ASSUMED_LIFETIME_MS} ms are assumed`
  return { problem, lifetime: { accessLifetimeMs: ASSUMED_LIFETIME_MS } }
}

function orAbsent(read: (members: Members) => object, members: Members, problems: string[]): object {
  try {
    return read(members)
  } catch (thrown) {
    // A context of another type is not the service's fault: the source is broken, and fails each time.
    if (read === contextIn && typeof members.context !== 'string') throw thrown
    problems.push((thrown as Error).message)
    return {}
  }
}

function errorOf(thrown: unknown): TokenError {
  const details = { outcome: 'unknown' } as const
  if (thrown instanceof BrokenGrant)
    return new TokenError('ERR_TOKEN_SOURCE', `The token source is broken: ${thrown.message}`, details)
  if (thrown instanceof UnusableGrant)
    return new TokenError('ERR_TOKEN_RESPONSE', `The token source returned unusable tokens: ${thrown.message}`, details)
  return thrown as TokenError
}

/**
 * Reads the argument of `adopt()`. An expired access token counts as absent.
 *
 * @returns A grant; its `accessToken` is empty if only the refresh token is usable.
 * @throws {TypeError} naming the member.
 */
export function readAdopted(given: AdoptedGrant | undefined): Readonly<TokenGrant> {
  const members = membersOf(given, true)
  const { accessToken, accessLifetimeMs, refreshLifetimeMs } = members
  const isUnknown = typeof refreshLifetimeMs === 'number' && refreshLifetimeMs <= 0
  const refresh = refreshIn(isUnknown ? { ...members, refreshLifetimeMs: undefined } : members)
  const hasRefresh = members.refreshToken !== undefined
  if (accessToken === undefined && !hasRefresh) throw nothingToAdopt(given as object)
  const isEnded = typeof accessLifetimeMs === 'number' && accessLifetimeMs <= 0
  const isUseless = accessToken === undefined || (isEnded && hasRefresh)
  if (!isUseless && accessLifetimeMs === undefined)
    throw new BrokenGrant('accessLifetimeMs is missing: pass ms from now')
  const access = isUseless ? NO_ACCESS_TOKEN : accessIn(members, given)
  return Object.freeze(bare({ ...access, ...refresh, ...subjectIn(members), ...contextIn(members) }))
}

const NO_ACCESS_TOKEN = { accessToken: '', accessLifetimeMs: 0 }

type Members = Readonly<Record<keyof TokenGrant, unknown>>
const MEMBERS = /* @__PURE__ */ namesOf<TokenGrant>({
  accessToken: true,
  accessLifetimeMs: true,
  refreshToken: true,
  refreshLifetimeMs: true,
  refreshAfterMs: true,
  subject: true,
  context: true,
})

/** @param nullIsAbsent Databases return null for absent values. */
function membersOf(grant: object | undefined, nullIsAbsent = false): Members {
  if (typeof grant !== 'object' || (grant as unknown) === null)
    throw new BrokenGrant(`got ${kindOf(grant)} instead of { accessToken, accessLifetimeMs }`)
  const read = (name: keyof TokenGrant) => {
    const value = member(grant, name)
    return [name, nullIsAbsent && value === null ? undefined : value]
  }
  return Object.fromEntries(MEMBERS.map(read)) as Members
}

function accessIn({ accessToken, accessLifetimeMs }: Members, grant: object = {}) {
  if (accessToken === undefined) throw missing('accessToken', grant, ['access_token', 'access', 'token'], '')
  if (accessLifetimeMs === undefined) throw missing('accessLifetimeMs', grant, ['expires_in', 'expiresIn'], ' Pass ms')
  if (typeof accessToken !== 'string') throw new BrokenGrant(`accessToken must be a string, got ${kindOf(accessToken)}`)
  // axios strips other characters silently, and would send a different token.
  if (!/^[\x21-\x7e]+$/.test(accessToken)) throw new UnusableGrant('accessToken must be visible ASCII characters')
  checkLifetime('accessLifetimeMs', accessLifetimeMs)
  return { accessToken, accessLifetimeMs }
}

/** An invalid `refreshAfterMs` counts as absent. */
function dueIn({ refreshAfterMs }: Members) {
  const isValid = typeof refreshAfterMs === 'number' && refreshAfterMs > 0 && refreshAfterMs < Infinity
  return isValid ? { refreshAfterMs } : {}
}

function refreshIn({ refreshToken, refreshLifetimeMs }: Members) {
  if (refreshToken === undefined) return {}
  if (typeof refreshToken !== 'string')
    throw new BrokenGrant(`refreshToken must be a string, got ${kindOf(refreshToken)}`)
  if (refreshToken === '' || /[\p{Cc}\p{Cs}]/u.test(refreshToken))
    throw new UnusableGrant('refreshToken must be well-formed text without control characters, and not empty')
  if (refreshLifetimeMs === undefined) return { refreshToken }
  checkLifetime('refreshLifetimeMs', refreshLifetimeMs)
  return { refreshToken, refreshLifetimeMs }
}

function subjectIn({ subject }: Members) {
  if (subject === undefined) return {}
  if (typeof subject !== 'string') throw new BrokenGrant(`subject must be a string, got ${kindOf(subject)}`)
  if (subject === '') throw new UnusableGrant('subject must not be empty')
  return { subject }
}

const LONGEST_CONTEXT = 8_192

function contextIn({ context }: Members) {
  if (context === undefined) return {}
  if (typeof context !== 'string') throw new BrokenGrant(`context must be a string, got ${kindOf(context)}`)
  const bytes = new TextEncoder().encode(context).length
  if (bytes > LONGEST_CONTEXT)
    throw new BrokenGrant(`context must have at most ${LONGEST_CONTEXT} bytes in UTF-8, got ${bytes}`)
  return { context }
}

function nothingToAdopt(given: object): BrokenGrant {
  const isRaw = ['access_token', 'refresh_token'].some((name) => name in given)
  const advice = isRaw
    ? 'convert a token response with fromTokenResponse() of axios-evergreen/oauth2'
    : 'pass one of them'
  return new BrokenGrant(`accessToken is missing, and so is refreshToken: ${advice}`)
}

function checkLifetime(name: string, value: unknown): asserts value is number {
  if (typeof value !== 'number') throw new BrokenGrant(`${name} must be a number of milliseconds, got ${kindOf(value)}`)
  if (Number.isNaN(value)) throw new BrokenGrant(`${name} must be a number of milliseconds, got NaN`)
  if (value <= 0 || value === Infinity) throw new UnusableGrant(`${name} must be positive and finite, got ${value}`)
}

/** @param others Names of the member in other libraries. @param unit A hint about its unit. */
function missing(name: string, grant: object, others: readonly string[], unit: string): BrokenGrant {
  const found = others.find((other) => other in grant)
  const hint = found === undefined ? '' : `; did you mean ${found}?${unit}`
  return new BrokenGrant(`${name} is missing${hint}`)
}
