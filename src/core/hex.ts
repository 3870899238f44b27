export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** @returns 128 random bits. Not by `crypto.randomUUID`: a page that is no secure context lacks it. */
export function randomHex(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)))
}
