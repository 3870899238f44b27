import assert from 'node:assert/strict'
import { redisStore } from 'axios-evergreen/redis'

// In the place of a client.
const client = { command: async () => null }
assert.ok(redisStore({ client }))
