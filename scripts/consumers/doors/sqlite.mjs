import assert from 'node:assert/strict'
import { sqliteStore } from 'axios-evergreen/sqlite'

// Instead of a database.
const database = { exec: () => undefined, prepare: () => ({ get: () => undefined, run: () => undefined }) }
assert.equal(sqliteStore({ database }).kind, 'sqlite')
