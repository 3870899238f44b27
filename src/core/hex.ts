export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** @returns 128 random bits. Not `crypto.randomUUID`, which a page lacks that is no secure context. */
export function randomHex(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)))
}
