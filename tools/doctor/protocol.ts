import { createHash, createHmac } from 'node:crypto'
import { isPage as isOfPage } from '../../src/wire/intermediary.ts'
import type { Seen } from './recorder.ts'

export type Protocol = 'variant-a' | 'variant-b' | 'oauth2'

/** @returns The protocol of the response; undefined if the response does not show it. */
export function protocolOf({ status, text }: Seen): Protocol | undefined {
  const document = parsed(text)
  const attributes = member(member(document, 'data'), 'attributes')
  if (member(attributes, 'expires_in') !== undefined) return 'variant-a'
  if (member(attributes, 'access_expired_at') !== undefined) return 'variant-b'
  if (member(document, 'access_token') !== undefined) return 'oauth2'
  const error = member(document, 'error')
  return status >= 400 && typeof error === 'string' && OAUTH_ERRORS.has(error) ? 'oauth2' : undefined
}

/** RFC 6749, section 5.2. */
const OAUTH_ERRORS = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
])

/** How `meta.sign` is computed. The specification leaves the key and the encoding open. */
export interface SignatureForm {
  readonly key: 'login + password' | 'SHA-256 of login + password'
  readonly encoding: 'hex' | 'base64' | 'base64url'
}

/** @returns `absent`: there is no signature; `wrong`: it matches no known key and encoding. */
export function signatureForm(
  { text }: Seen,
  { login, password }: { login: string; password: string },
): SignatureForm | 'absent' | 'wrong' {
  const document = parsed(text)
  const [time, sign] = ['time', 'sign'].map((name) => member(member(document, 'meta'), name))
  if (typeof sign !== 'string' || typeof time !== 'string') return 'absent'
  const refresh = member(member(member(document, 'data'), 'attributes'), 'refresh')
  const message = time + (typeof refresh === 'string' ? refresh : '')
  const secret = login + password
  const keys = {
    'login + password': secret,
    'SHA-256 of login + password': createHash('sha256').update(secret).digest(),
  }
  const given = sign.trim().replace(/=$/, '')
  for (const key of ['login + password', 'SHA-256 of login + password'] as const)
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const tag = createHmac('sha256', keys[key]).update(message).digest(encoding).replace(/=$/, '')
      if (tag === (encoding === 'hex' ? given.toLowerCase() : given)) return { key, encoding }
    }
  return 'wrong'
}

/** Whether the response is a web page, by the rule that token sources apply. */
export function isPage({ headers, text }: Seen): boolean {
  return isOfPage(headers['content-type'], text)
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}
