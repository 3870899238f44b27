import type { GrantedClaim, NewTokens } from './token-store.ts'

interface Presented {
  readonly claim: Pick<GrantedClaim, 'tokens'>
  readonly refreshToken: string | undefined
}

/** @returns What a call brought. A reusable refresh token stays good if the answer brings no other (RFC 6749, section 6). */
export function withRefreshToken(
  granted: NewTokens,
  { claim, refreshToken }: Presented,
  graceMs: number,
  sinceClaimMs: number,
): NewTokens {
  if (graceMs < Infinity || granted.refreshToken !== undefined || refreshToken === undefined) return granted
  const leftMs = claim.tokens?.refreshRemainingMs
  return { ...granted, refreshToken, ...(leftMs !== undefined && { refreshRemainingMs: leftMs - sinceClaimMs }) }
}

/** What is odd about the refresh token in the answer to a refresh. A reusable one may be absent, or the same again. */
export function oddRotation(presented: string | undefined, next: string | undefined, graceMs: number) {
  if (graceMs === Infinity || presented === undefined || (next !== undefined && next !== presented)) return undefined
  return next === undefined
    ? "A refresh answer carried no refresh token: only refreshTokens: 'reusable' keeps the old one"
    : 'A refresh answer carried the same refresh token again'
}
