const HMAC = { name: 'HMAC', hash: 'SHA-256' }

export interface Signed {
  /** `meta.time` as received: re-formatting it would lose its microseconds. */
  readonly time: string
  readonly refresh: string
  /** `meta.sign`. */
  readonly sign: unknown
}

/**
 * Whether `meta.sign` proves that the refresh token came from the service (specification, section 5): HMAC with SHA-256 over
 * `time` and `refresh`. The key is `login` and `password`, or the SHA-256 digest of the two (field notes). Compared in
 * constant time, by WebCrypto.
 *
 * It covers neither the access token nor an expiry time.
 */
export async function isAuthentic(signed: Signed, login: string, password: string): Promise<boolean> {
  const tag = decodedTag(signed.sign)
  if (!tag) return false
  const utf8 = new TextEncoder()
  const message = utf8.encode(signed.time + signed.refresh)
  const secret = utf8.encode(login + password)
  const verify = async (key: ArrayBuffer | Uint8Array<ArrayBuffer>) =>
    crypto.subtle.verify('HMAC', await crypto.subtle.importKey('raw', key, HMAC, false, ['verify']), tag, message)
  const results = await Promise.all([verify(secret), verify(await crypto.subtle.digest('SHA-256', secret))])
  return results.includes(true)
}

/** @returns The 32 bytes: 64 hex digits, 44 characters of base64, or 43 of base64 or base64url without padding. */
function decodedTag(sign: unknown): Uint8Array<ArrayBuffer> | undefined {
  const text = typeof sign === 'string' ? sign.trim() : ''
  if (/^[\da-f]{64}$/i.test(text)) return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16))
  // The last character carries four bits: others would be a second spelling of the same tag.
  if (!/^([\w-]{42}|[A-Za-z\d+/]{42})[AEIMQUYcgkosw048]=?$/.test(text)) return undefined
  const base64 = text.replaceAll('-', '+').replaceAll('_', '/')
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}
