import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineKey } from '../../examples/electron/machine-key.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manage, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'

/** Stands for Electron's, which is not installed: the same three functions, with a keychain that is a mask. */
const masked = (bytes: Buffer) => Buffer.from(bytes.map((byte) => byte ^ 0x5a))
const safeStorage = {
  isEncryptionAvailable: () => true,
  encryptString: (text: string) => masked(Buffer.from(text)),
  decryptString: (sealed: Buffer) => masked(sealed).toString(),
}

describe("given a key that Electron's safeStorage keeps (a stand-in for it)", () => {
  let folder: string
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'electron-'))))
  afterEach(() => rmSync(folder, { recursive: true }))

  it('when the program starts again, then it reads the login that it has stored', async () => {
    const file = join(folder, 'key')
    const register = new MemoryRegister()
    const opened = async () => {
      const store = sharedStore(register, { encryptionKeys: [await machineKey(safeStorage, file)] })
      return manage(new ScriptedSource({ pairs: true }), { store, storeKey: 'login' })
    }
    const first = await opened()
    const token = await first.tokens.getAccessToken()
    await first.tokens.close()
    const second = await opened()
    expect(await second.tokens.getAccessToken()).toBe(token)
    expect(second.source.calls).toEqual([])
    await second.tokens.close()
  })

  it('when the file is read, then it does not contain the key, and only its owner may read it', async () => {
    const file = join(folder, 'key')
    const { key } = await machineKey(safeStorage, file)
    expect(readFileSync(file, 'latin1')).not.toContain(Buffer.from(key).toString('base64'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('when the system has no keychain, then there is no key', async () => {
    const none = { ...safeStorage, isEncryptionAvailable: () => false }
    await expect(machineKey(none, join(folder, 'key'))).rejects.toThrow('no keychain')
  })
})
