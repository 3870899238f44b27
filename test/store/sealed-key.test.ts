import { expect, it } from '@jest/globals'
import { sharedStore } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'

it.each([0, 7])(
  'given an encryption key of the byte %d repeated, when a store is made, then it is rejected by name (F228)',
  (byte) => {
    const key = new Uint8Array(32).fill(byte)
    expect(() => sharedStore(new MemoryRegister(), { encryptionKeys: [{ id: 'k1', key }] })).toThrow(
      new TypeError('encryptionKeys[0].key must be random, got the same byte 32 times'),
    )
  },
)
