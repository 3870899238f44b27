import { hexOf } from './hex.ts'

/** @returns First 8 hex digits of SHA-256: enough to tell tokens apart in a log, of no use to anybody else. */
export async function fingerprintOf(token: string): Promise<string> {
  return (await digestOf('SHA-256', token)).slice(0, 8)
}

/** @returns Lower-case hex. */
export async function digestOf(algorithm: 'SHA-1' | 'SHA-256', text: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest(algorithm, new TextEncoder().encode(text))))
}
