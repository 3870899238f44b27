import { hexOf } from './hex.ts'

/** @returns The first 8 hex digits of SHA-256. They tell tokens apart in a log, but do not reveal the token. */
export async function fingerprintOf(token: string): Promise<string> {
  return (await digestOf('SHA-256', token)).slice(0, 8)
}

/** @returns The digest of the UTF-8 text, in lower-case hex. */
export async function digestOf(algorithm: 'SHA-1' | 'SHA-256', text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest(algorithm, new TextEncoder().encode(text))))
}
