import assert from 'node:assert/strict'
import * as rax from 'retry-axios'
import { failureOf } from './lib/common.mjs'
import { foreign } from './lib/foreign.mjs'

await foreign({
  library: 'retry-axios',
  put(instance) {
    const retries = { count: 0, before: () => undefined }
    const onRetryAttempt = async () => {
      retries.count += 1
      await retries.before()
    }
    instance.defaults.raxConfig = { retry: 2, retryDelay: 1, backoffType: 'static', onRetryAttempt }
    rax.attach(instance)
    return { retries }
  },
  checks: {
    async 'it sends a request again after the API failed'({ get, api, tokenCalls }) {
      api.failNext(503, { times: 2 })
      assert.equal((await get('/orders')).status, 200)
      assert.deepEqual([api.served, tokenCalls()], [[503, 503, 200], 1])
    },
    async 'it does not retry what is not retryable'({ get, service, retries }) {
      service.failNext('obtain', { status: 400 })
      await failureOf(get('/orders'))
      assert.equal(retries.count, 0)
    },
    async 'it retries what is retryable'({ get, service, retries, clock, tokenCalls }) {
      service.failNext('obtain', { status: 503 })
      retries.before = () => clock.advance(10_000)
      assert.equal((await get('/orders')).status, 200)
      assert.deepEqual([retries.count, tokenCalls()], [1, 2])
    },
  },
})
