import assert from 'node:assert/strict'
import { HttpProxyAgent } from 'http-proxy-agent'
import { foreign } from './lib/foreign.mjs'
import { startProxy } from './lib/proxy.mjs'

await foreign({
  library: 'http-proxy-agent',
  async prepare() {
    const proxy = await startProxy()
    const agent = new HttpProxyAgent(proxy.url)
    return { proxy, agent, transport: { httpAgent: agent, proxy: false } }
  },
  put: (instance, { agent }) => void (instance.defaults.httpAgent = agent),
  async end({ agent, proxy }) {
    agent.destroy()
    await proxy.close()
  },
  checks: {
    async 'token calls and requests go through the proxy, replays too'({ get, api, proxy }) {
      await get('/before')
      api.revokeTokens()
      await get('/orders')
      const asked = ['POST /token/', 'GET /before', 'GET /orders', 'POST /token/', 'GET /orders']
      assert.deepEqual(
        proxy.asked,
        asked.map((one) => one.replace(' ', ` ${api.baseUrl}`)),
      )
    },
  },
})
