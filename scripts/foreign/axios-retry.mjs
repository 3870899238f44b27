import assert from 'node:assert/strict'
import { isTokenError } from 'axios-evergreen'
import axiosRetry from 'axios-retry'
import { failureOf } from './lib/common.mjs'
import { foreign } from './lib/foreign.mjs'

await foreign({
  library: 'axios-retry',
  put(instance) {
    const retries = { count: 0, before: () => undefined, delay: () => 0 }
    const onRetry = async () => {
      retries.count += 1
      await retries.before()
    }
    axiosRetry(instance, { retries: 2, retryDelay: (count, error) => retries.delay(error), onRetry })
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
    async 'it can wait until retryAt'({ get, service, retries, clock, tokenCalls }) {
      service.failNext('obtain', { status: 503 })
      let ms = 0
      retries.delay = (error) => {
        if (isTokenError(error)) ms = error.retryAt - clock.wallNow()
        return 0
      }
      retries.before = () => clock.advance(ms)
      assert.equal((await get('/orders')).status, 200)
      assert.deepEqual([ms > 1_000, retries.count, tokenCalls()], [true, 1, 2])
    },
  },
})
