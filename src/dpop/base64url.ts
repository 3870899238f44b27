/** @returns The bytes as base64url without padding (RFC 7515, section 2). */
export function base64urlOf(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return base64urlOfText(binary)
}

/** @param text Characters up to U+00FF, one byte each. */
export function base64urlOfText(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** @returns The number of bytes that a base64url text encodes. */
export function bytesIn(base64url: string): number {
  return Math.floor((base64url.length * 3) / 4)
}
