import assert from 'node:assert/strict'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { foreign } from './lib/foreign.mjs'
import { startProxy } from './lib/proxy.mjs'
import { startTlsFront } from './lib/tls-front.mjs'

await foreign({
  library: 'https-proxy-agent',
  async prepare({ service }) {
    const [proxy, front] = [await startProxy(), await startTlsFront(service.baseUrl)]
    const agent = new HttpsProxyAgent(proxy.url)
    // Options of the constructor are for the proxy; this one is for the server behind the proxy.
    agent.options.ca = front.cert
    const plain = new HttpsProxyAgent(proxy.url)
    return {
      proxy,
      front,
      agents: [agent, plain],
      baseUrl: front.baseUrl,
      transport: { httpAgent: plain, proxy: false },
    }
  },
  put: (instance, { agents: [agent] }) => void (instance.defaults.httpsAgent = agent),
  async end({ agents, proxy, front }) {
    for (const agent of agents) agent.destroy()
    await front.close()
    await proxy.close()
  },
  checks: {
    async 'token calls and requests go through tunnels, and the proxy sees no token'({
      get,
      api,
      service,
      proxy,
      front,
      secrets,
    }) {
      await get('/before')
      api.revokeTokens()
      await get('/orders')
      const [tokens, resources] = [service.baseUrl, front.baseUrl].map((url) => new URL(url).host)
      assert.deepEqual(
        proxy.asked.map((one) => one.split(' ')[1]),
        [tokens, resources, resources, tokens, resources],
      )
      assert.deepEqual(
        [...secrets].filter((secret) => proxy.asked.join().includes(secret)),
        [],
      )
    },
  },
})
