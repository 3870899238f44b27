import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici'
import { foreign } from './lib/foreign.mjs'

await foreign({
  library: 'undici',
  isMock: true,
  // The http adapter does not use undici.
  adapters: ['fetch'],
  put(_instance, { api }) {
    const before = getGlobalDispatcher()
    const agent = new MockAgent()
    agent.disableNetConnect()
    agent
      .get(api.baseUrl)
      .intercept({ path: /./, method: /./ })
      .reply(({ headers }) => {
        const { status, headers: sent, body } = api.answer(new Headers(headers).get('Authorization'))
        return { statusCode: status, data: JSON.stringify(body), responseOptions: { headers: sent } }
      })
      .persist()
    setGlobalDispatcher(agent)
    return { agent, before }
  },
  end({ agent, before }) {
    setGlobalDispatcher(before)
    return agent.close()
  },
})
