import { CHALLENGED, type TokenSource } from '../core/token-source.ts'
import { encodedDocument, memberOf, documentIn, type Members } from './document.ts'

/**
 * The claims that an API requires in the next access token (a claims challenge of Microsoft Entra, for continuous access evaluation). They are sent with
 * each token request until one is accepted.
 */
export class ClaimsChallenge {
  #claims: Members | undefined

  /** Receives the challenges of the API. Not a computed member of the class of `source`: bundlers keep such classes even if they are unused. */
  constructor(source: TokenSource) {
    const receive = (challenge: unknown) => void (this.#claims = claimsIn(challenge) ?? this.#claims)
    Object.defineProperty(source, CHALLENGED, { value: receive })
  }

  /** Adds the claims to the parameters of a token request. The parameter `claims` of the user, with the capabilities of the client, is kept. */
  addTo(body: URLSearchParams): void {
    if (!this.#claims) return
    const own = documentIn(body.get('claims') ?? '')
    const access_token = { ...membersIn(own), ...membersIn(this.#claims) }
    body.set('claims', JSON.stringify({ ...own, ...this.#claims, access_token }))
  }

  forget(): void {
    this.#claims = undefined
  }
}

const membersIn = (claims: Members | undefined) => memberOf(claims, 'access_token') as Members | undefined

/** @param challenge `WWW-Authenticate`. @returns The claims; undefined if it requires none. */
function claimsIn(challenge: unknown): Members | undefined {
  const [, encoded] = /^(?=.*\berror="?insufficient_claims\b).*\bclaims="([\w+/=-]+)"/i.exec(String(challenge)) ?? []
  return encoded === undefined ? undefined : encodedDocument(encoded)
}
