import { afterEach, beforeEach } from '@jest/globals'
import { type FakeDatabases, fakeIndexedDb } from './indexed-db.ts'

/** In each test of the file, `indexedDB` is an empty fake. `Date.now`, its clock, is restored. */
export function indexedDbOfSuite(): FakeDatabases {
  const fake = {} as FakeDatabases
  const { now } = Date
  beforeEach(() => fakeIndexedDb(fake))
  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'indexedDB')
    Date.now = now
  })
  return fake
}
