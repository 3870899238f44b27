import assert from 'node:assert/strict'
import { createTableStatement, postgresStore } from 'axios-evergreen/postgres'

// Instead of a pool of pg.
const pool = { query: async () => ({ rows: [] }) }
assert.ok(postgresStore({ pool }))
assert.match(createTableStatement(), /^CREATE TABLE/)
