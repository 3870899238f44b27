import assert from 'node:assert/strict'
import axios from 'axios'
import { buildMemoryStorage, setupCache } from 'axios-cache-interceptor'
import { attachBearer } from 'axios-evergreen'
import { foreign } from './lib/foreign.mjs'

const vary = { Vary: 'Authorization', 'Cache-Control': 'max-age=3600' }

await foreign({
  library: 'axios-cache-interceptor',
  put: (instance) => void setupCache(instance),
  checks: {
    async 'the second response comes from the cache'({ get, api }) {
      const [first, second] = [await get('/orders'), await get('/orders')]
      assert.deepEqual([first.cached, second.cached, second.data], [false, true, first.data])
      assert.deepEqual(api.served, [200])
    },
    async 'two requests at once are one, after a failed token too'({ get, api, service, clock }) {
      service.failNext('obtain', { status: 503 })
      await Promise.allSettled([get('/orders'), get('/orders')])
      await clock.advance(10_000)
      const answers = await Promise.all([get('/orders'), get('/orders')])
      assert.deepEqual(answers.map(({ cached }) => cached).sort(), [false, true])
      assert.deepEqual(api.served, [200])
    },
    async 'of a rejected request it keeps the response to the replay'({ get, api }) {
      await get('/before')
      api.revokeTokens()
      const [first, second] = [await get('/orders'), await get('/orders')]
      assert.deepEqual([first.status, second.status, second.cached], [200, 200, true])
      assert.deepEqual(api.served, [200, 401, 200])
    },
    async 'it returns an old response when the API fails, with staleIfError'({ get, api }) {
      const headers = { 'Cache-Control': 'max-age=0, stale-if-error=3600', ETag: '"1"' }
      api.failNext(200, { headers, body: '{"n":1}' })
      await get('/orders')
      api.failNext(503)
      const { data, stale } = await get('/orders')
      assert.deepEqual([data, stale], [{ n: 1 }, true])
    },
    async 'Vary: Authorization: it keeps the response although the token has changed'({ get, api, tokens }) {
      api.failNext(200, { headers: vary, body: '{"n":1}' })
      await get('/orders')
      await tokens.renew()
      assert.deepEqual([(await get('/orders')).cached, api.served], [true, [200]])
    },
    async 'Vary: Authorization: two accounts need a cache each'({ api, managerOf }) {
      const answersOf = async (options) => {
        api.failNext(200, { headers: vary, body: '{"account":1}' })
        const [one, other] = [1, 2].map((n) => accountOf(n, api.baseUrl, managerOf, options()))
        const { data: first } = await one.get('/wallet')
        api.failNext(200, { headers: vary, body: '{"account":2}' })
        const { data: second } = await other.get('/wallet')
        return [first.account, second.account]
      }
      assert.deepEqual(await answersOf(() => ({ storage: buildMemoryStorage() })), [1, 2])
      const shared = buildMemoryStorage()
      assert.deepEqual(await answersOf(() => ({ storage: shared })), [1, 1], 'docs/works-with.md says so')
    },
  },
})

function accountOf(n, baseURL, managerOf, options) {
  const instance = setupCache(axios.create({ baseURL, proxy: false }), options)
  const obtain = async () => ({ accessToken: `account-${n}`, accessLifetimeMs: 600_000 })
  attachBearer(instance, managerOf({ source: { id: `account ${n}`, obtain } }))
  return instance
}
