import assert from 'node:assert/strict'
import * as logger from 'axios-logger'
import { failureOf } from './lib/common.mjs'
import { foreign } from './lib/foreign.mjs'

logger.setGlobalConfig({ headers: true, data: true, params: true })

await foreign({
  library: 'axios-logger',
  put(instance) {
    instance.interceptors.request.use(logger.requestLogger, logger.errorLogger)
    instance.interceptors.response.use(logger.responseLogger, logger.errorLogger)
  },
  checks: {
    async 'it logs the request and the response'({ post, said }) {
      await post('/orders', { a: 1 })
      assert.match(said(), /\[Request\].*\/orders[^]*\[Response\].*\/orders.* 200:/)
    },
    async 'it logs a request that got no token'({ get, service, said }) {
      service.failNext('obtain', { status: 503 })
      await failureOf(get('/orders'))
      assert.match(said(), /\[Error\].*\/orders/)
    },
    async 'it logs a replayed request once'({ get, api, said }) {
      await get('/before')
      api.revokeTokens()
      await get('/orders')
      const lines = said().match(/(?<=\[Axios\]\[)\w+/g)
      assert.deepEqual(lines, ['Request', 'Response', 'Request', 'Response'])
    },
  },
})
