import { describe } from '@jest/globals'
import { indexedDatabases } from '../../src/web/indexed-db.ts'
import { webRegister } from '../../src/web/web-register.ts'
import { indexedDbOfSuite } from '../support/indexed-db-of-suite.ts'
import { promisesOfLogin } from './login-promises.ts'
import { promisesOfRecord } from './record-promises.ts'
import type { Place } from './world.ts'

indexedDbOfSuite()

/** Each process of the test is a tab. */
const TABS: Place = {
  name: 'IndexedDB',
  isSealed: true,
  stepMs: 250,
  registerOf: async (clock) => {
    Date.now = () => clock.wallNow()
    return () => webRegister(indexedDatabases()!)
  },
}

describe('given a login with two APIs in tabs, sealed in IndexedDB (F425)', () => {
  promisesOfLogin(TABS)
  promisesOfRecord(TABS)
})
