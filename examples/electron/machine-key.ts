import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'

/** The part of Electron's `safeStorage` that this recipe uses. */
interface SafeStorage {
  isEncryptionAvailable(): boolean
  encryptString(text: string): Buffer
  decryptString(sealed: Buffer): string
}

/** The key of the store: `sqliteStore({ file, encryptionKeys: [await machineKey(safeStorage, keyFile)] })`, in the main process, after `app.whenReady()`. */
export async function machineKey(safeStorage: SafeStorage, file: string): Promise<{ id: string; key: Uint8Array }> {
  // Without a keychain, Linux would encrypt with a publicly known password.
  if (!safeStorage.isEncryptionAvailable()) throw new Error('The system has no keychain: keep the login in memory')
  const sealed = await readFile(file).catch(() => undefined)
  if (sealed) return { id: 'machine', key: Buffer.from(safeStorage.decryptString(sealed), 'base64') }
  const key = randomBytes(32)
  await writeFile(file, safeStorage.encryptString(key.toString('base64')), { mode: 0o600 })
  return { id: 'machine', key }
}
