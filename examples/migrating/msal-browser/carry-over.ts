import type { LoginManager } from 'axios-evergreen/login'

/** Call it at each start, before the first request. @param storage Your `cacheLocation`. */
export async function carryOver(tokens: LoginManager, clientId: string, storage = localStorage): Promise<void> {
  const names = Object.keys(storage).filter((name) => name.startsWith('msal.'))
  const found = names.find((name) => name.includes(`|refreshtoken|${clientId.toLowerCase()}|`))
  const refreshToken = found && (await secretIn(storage.getItem(found)!, found.includes(clientId) ? clientId : ''))
  if (refreshToken) await tokens.adopt({ refreshToken })
  for (const name of names) storage.removeItem(name)
}

/** In `localStorage` MSAL encrypts an entry with a key in a session cookie: without the cookie, there is no login to carry over. */
async function secretIn(text: string, info: string): Promise<string | undefined> {
  const entry = JSON.parse(text) as { secret?: string; id: string; nonce: string; data: string }
  if (entry.secret !== undefined) return entry.secret
  const cookie = /(?:^|; )msal\.cache\.encryption=([^;]*)/.exec(document.cookie)?.[1]
  const { id, key } = JSON.parse(decodeURIComponent(cookie ?? '{}')) as { id?: string; key?: string }
  if (id !== entry.id || key === undefined) return undefined
  const { subtle } = crypto
  const base = await subtle.importKey('raw', bytesOf(key), 'HKDF', false, ['deriveKey'])
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: bytesOf(entry.nonce), info: new TextEncoder().encode(info) }
  const aes = await subtle.deriveKey(derivation, base, { name: 'AES-GCM', length: 256 }, false, ['decrypt'])
  const plain = await subtle.decrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, aes, bytesOf(entry.data))
  return (JSON.parse(new TextDecoder().decode(plain)) as { secret: string }).secret
}

const bytesOf = (text: string) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))
