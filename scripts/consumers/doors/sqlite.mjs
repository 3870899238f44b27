import assert from 'node:assert/strict'
import { sqliteStore } from 'axios-evergreen/sqlite'

// In the place of a database.
const row = { get: () => undefined, run: () => undefined }
assert.throws(() => sqliteStore({ database: { exec: () => undefined } }), TypeError)
assert.equal(typeof row.get, 'function')
