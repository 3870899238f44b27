import { quietly } from '../core/thrown.ts'

/** The members of a JSON object that a server sent. */
export type Members = Readonly<Record<string, unknown>>

/** @returns The JSON object in `text`; undefined if the text is anything else. */
export function documentIn(text: string): Members | undefined {
  const document = quietly(() => JSON.parse(text) as unknown)
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
  return isObject ? (document as Members) : undefined
}

/** @returns The document's own member; undefined if the member is absent or null. */
export function memberOf(document: Members | undefined, name: string): unknown {
  return document && Object.hasOwn(document, name) ? (document[name] ?? undefined) : undefined
}

/**
 * @returns The objects that hold an access token: the document, or else members of it (`body` at Withings, `authed_user` at Slack), each merged with
 *   the members of the document.
 */
export function holdersOfToken(document: Members): Members[] {
  if (holdsToken(document)) return [document]
  return Object.values(document)
    .filter(holdsToken)
    .map((inner) => ({ ...document, ...(inner as Members) }))
}

/** For messages. */
export const TWO_HOLDERS = 'more than one of its members holds an access_token'

function holdsToken(document: unknown): boolean {
  return typeof document === 'object' && memberOf(document as Members | undefined, 'access_token') !== undefined
}

/** @returns The members of a form-encoded response. Some servers send one although the request accepts JSON only. */
export function formIn(text: string): Members | undefined {
  return /^\w+=[^<\s]*$/.test(text) ? Object.fromEntries(new URLSearchParams(text)) : undefined
}

/** @returns `error` of an error response (RFC 6749, section 5.2), if its value is a single word. */
export function errorIn(document: Members | undefined): string | undefined {
  const error = memberOf(document, 'error')
  return typeof error === 'string' && /^[\w.-]{1,40}$/.test(error) ? error : undefined
}

/** @returns A message if the response follows the protocol of `clientCredentials` and `loginPassword` (their specification, sections 2 and 7). */
export function otherProtocol(document: Members | undefined): string | undefined {
  const shown = ['errors', 'data'].find((name) => typeof memberOf(document, name) === 'object')
  if (shown === undefined) return undefined
  return `it is not OAuth 2.0 (${shown}): use clientCredentials() or loginPassword() of axios-evergreen if this is their service`
}

/**
 * @returns `sub` of the `id_token` in a response (OpenID Connect Core, section 2). The signature is not verified: the token came straight from the token
 *   endpoint, and the subject only distinguishes the logins of different users.
 */
export function subjectIn(document: Members): string | undefined {
  const token = memberOf(document, 'id_token')
  // Parsed only if present: the exception that JSON.parse throws took a tenth of the time of a renewal.
  if (typeof token !== 'string') return undefined
  const [, payload = ''] = token.split('.')
  const subject = memberOf(encodedDocument(payload), 'sub')
  return typeof subject === 'string' && subject !== '' ? subject : undefined
}

/** @param encoded UTF-8 in base64 or base64url. */
export function encodedDocument(encoded: string): Members | undefined {
  return documentIn(decodedText(encoded))
}

/** @param encoded UTF-8 in base64 or base64url. @returns Empty if `encoded` is not base64. */
export function decodedText(encoded: string): string {
  const bytes = quietly(() => atob(encoded.replace(/-/g, '+').replace(/_/g, '/')))
  return new TextDecoder().decode(Uint8Array.from(bytes ?? '', (char) => char.charCodeAt(0)))
}
