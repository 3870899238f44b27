import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import axios from 'axios'
import Agent from 'agentkeepalive'
import { attachBearer, clientCredentials } from 'axios-evergreen'
import { failureOf } from './lib/common.mjs'
import { foreign } from './lib/foreign.mjs'

await foreign({
  library: 'agentkeepalive',
  put(instance) {
    const agent = new Agent()
    instance.defaults.httpAgent = agent
    return { agent }
  },
  end: ({ agent }) => agent.destroy(),
  checks: {
    async 'one socket serves all requests, replays too'({ get, api, agent }) {
      for (const url of ['/one', '/two']) await get(url)
      api.revokeTokens()
      await get('/three')
      assert.deepEqual(api.served, [200, 200, 401, 200])
      assert.equal(agent.getCurrentStatus().createSocketCount, 1)
    },
    async 'an error shows nothing of another request on its agent'({ get, post, api, service }) {
      await get('/before')
      service.failNext('resource', { hang: true })
      const controller = new AbortController()
      const hanging = failureOf(get('/hanging', { signal: controller.signal }))
      while (api.served.length < 2) await turn()
      api.failNext(500)
      // The error is searched for secrets, as every outcome is.
      await failureOf(post('/orders', { a: 1 }))
      controller.abort()
      await hanging
    },
    async 'one socket for API and token service: a rejected stream surfaces as it is (F169)'({
      service,
      clock,
      managerOf,
    }) {
      const httpAgent = new Agent({ maxSockets: 1 })
      const transport = { httpAgent, proxy: false }
      const tokens = managerOf({
        source: clientCredentials({ baseUrl: service.baseUrl, ...service.client, transport }),
      })
      const instance = axios.create({ baseURL: service.baseUrl, httpAgent, proxy: false, validateStatus: null })
      attachBearer(instance, tokens)
      await instance.get('/before')
      service.revokeAccessTokens()
      const answer = instance.get('/orders', { responseType: 'stream' })
      let hasEnded = false
      const end = () => (hasEnded = true)
      answer.then(end, end)
      while (!hasEnded) await clock.advance(100)
      const { status, data } = await answer
      assert.equal(status, 401)
      assert.match(await text(data), /401/)
      await clock.advance(61_000)
      assert.equal((await instance.get('/later')).status, 200)
      await tokens.close()
      httpAgent.destroy()
    },
  },
})
