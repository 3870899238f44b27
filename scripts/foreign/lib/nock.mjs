import assert from 'node:assert/strict'
import { attachBearer, clientCredentials } from 'axios-evergreen'
import axios from 'axios'
import { foreign } from './foreign.mjs'

/** The checks of nock, of either major. */
export function checkNock(nock, library) {
  return foreign({
    library,
    isMock: true,
    adapters: ['http', 'fetch'],
    put(instance, { api }) {
      if (!nock.isActive()) nock.activate()
      nock.disableNetConnect()
      nock.enableNetConnect('127.0.0.1')
      const scope = nock(api.baseUrl).persist()
      const reply = function (given) {
        // nock 15 passes a Request; in earlier versions the request is `this.req`.
        const authorization =
          given instanceof Request ? given.headers.get('Authorization') : this.req.headers.authorization
        const { status, headers, body } = api.answer(String(authorization))
        return [status, body, headers]
      }
      scope.get(/.*/).reply(reply)
      scope.post(/.*/).reply(reply)
    },
    end() {
      nock.cleanAll()
      nock.enableNetConnect()
      nock.restore()
    },
    checks: {
      async 'it mocks the token service as well'({ managerOf, instance: { defaults } }) {
        const baseUrl = 'https://tokens.example.com'
        const attributes = { access: 'mocked-token', expires_in: 600, token_type: 'Bearer' }
        nock(baseUrl)
          .post('/token/', /client_id/)
          .reply(200, { data: { type: 'auth-token', attributes } }, { 'Content-Type': 'application/vnd.api+json' })
        nock('https://other.example.com').get('/').matchHeader('Authorization', 'Bearer mocked-token').reply(204)
        const instance = axios.create({ baseURL: 'https://other.example.com', adapter: defaults.adapter })
        const source = clientCredentials({ baseUrl, clientId: 'my-id', clientSecret: 'my-secret' })
        attachBearer(instance, managerOf({ source }))
        assert.equal((await instance.get('/')).status, 204)
      },
    },
  })
}
