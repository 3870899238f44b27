import assert from 'node:assert/strict'
import { sqliteStore } from 'axios-evergreen/sqlite'

// In the place of a database.
const database = { exec: () => undefined, prepare: () => ({ get: () => undefined, run: () => undefined }) }
assert.equal(sqliteStore({ database }).kind, 'sqlite')
