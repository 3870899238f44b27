import { CHALLENGED, type TokenSource } from '../core/token-source.ts'
import { documentIn, encodedDocument, memberOf, type Members } from './document.ts'

/**
 * Observes the claims challenges of an API (Microsoft Entra, continuous access evaluation): each names the claims that the next access token must have.
 */
export function onClaimsChallenge(source: TokenSource, listener: (claims: Members) => void): void {
  const value = (challenge: unknown) => {
    const claims = claimsIn(challenge)
    if (claims) listener(claims)
  }
  // Not a computed member of the class of the source: bundlers keep such classes even if they are unused.
  Object.defineProperty(source, CHALLENGED, { value })
}

/** @param challenge `WWW-Authenticate`. @returns The claims; undefined if it requires none. */
export function claimsIn(challenge: unknown): Members | undefined {
  const text = typeof challenge === 'string' ? challenge : ''
  const [, encoded] = /^(?=.*\berror="?insufficient_claims\b).*\bclaims="([\w+/=-]+)"/i.exec(text) ?? []
  return encoded === undefined ? undefined : encodedDocument(encoded)
}

/** Adds claims to the parameters of a token request. The `claims` of the option `parameters`, with the capabilities of the client, are kept. */
export function addClaims(body: URLSearchParams, claims: Members): void {
  const own = documentIn(body.get('claims') ?? '')
  const access_token = Object.assign({}, memberOf(own, 'access_token'), memberOf(claims, 'access_token'))
  body.set('claims', JSON.stringify({ ...own, ...claims, access_token }))
}
