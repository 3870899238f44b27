import assert from 'node:assert/strict'
import rateLimit from 'axios-rate-limit'
import { failureOf } from './lib/common.mjs'
import { foreign } from './lib/foreign.mjs'

await foreign({
  library: 'axios-rate-limit',
  put: (instance) => void rateLimit(instance, { maxRequests: 2, perMilliseconds: 20 }),
  checks: {
    async 'requests without a token release their slots'({ get, service, instance, clock }) {
      service.failNext('obtain', { status: 503 })
      const urls = Array.from({ length: 6 }, (_, n) => `/orders/${n}`)
      await Promise.all(urls.map((url) => failureOf(get(url))))
      assert.equal(instance.getQueue().length, 0)
      await clock.advance(61_000)
      for (const { status } of await Promise.all(urls.map((url) => get(url)))) assert.equal(status, 200)
    },
    async 'a replay takes no slot of its own'({ get, api, instance }) {
      await get('/before')
      // One request an hour: a second one would wait beyond the end of the test.
      instance.setRateLimitOptions({ maxRequests: 1, perMilliseconds: 3_600_000 })
      api.revokeTokens()
      assert.equal((await get('/orders')).status, 200)
      assert.deepEqual(api.served, [200, 401, 200])
      instance.setRateLimitOptions({ maxRequests: 2, perMilliseconds: 20 })
    },
  },
})
