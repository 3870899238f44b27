import assert from 'node:assert/strict'
import { redisStore } from 'axios-evergreen/redis'

// Instead of a client.
const client = { command: async () => null }
assert.ok(redisStore({ client }))
