import assert from 'node:assert/strict'
import axios from 'axios'
import MockAdapter from 'axios-mock-adapter'
import { attachBearer } from 'axios-evergreen'
import { foreign } from './lib/foreign.mjs'

await foreign({
  library: 'axios-mock-adapter',
  isMock: true,
  put(instance, { api }) {
    const mock = new MockAdapter(instance)
    mock.onAny().reply(({ headers }) => {
      const { status, headers: sent, body } = api.answer(headers.get('Authorization'))
      return [status, body, sent]
    })
    return { mock }
  },
  checks: {
    async 'its history has the request, and no Authorization header'({ get, mock }) {
      await get('/orders')
      assert.deepEqual(
        mock.history.get.map(({ url, headers }) => [url, headers.has('Authorization')]),
        [['/orders', false]],
      )
    },
    async 'a request that it lets through has the token'({ get, service, tokens, ...world }) {
      const instance = axios.create({ baseURL: service.baseUrl, proxy: false })
      attachBearer(instance, tokens)
      new MockAdapter(instance).onAny().passThrough()
      world.useInstance(instance)
      assert.equal((await get('/orders')).status, 200)
      assert.equal(service.count('resource'), 1)
    },
    async 'a mock of the default instance does not affect token calls'({ get, tokenCalls }) {
      const mock = new MockAdapter(axios)
      mock.onAny().reply(418)
      try {
        assert.equal((await get('/orders')).status, 200)
        assert.deepEqual([tokenCalls(), mock.history.length], [1, 0])
      } finally {
        mock.restore()
      }
    },
  },
})
