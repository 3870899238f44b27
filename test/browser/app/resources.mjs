import axios from 'axios'
import { attachBearer, createTokenManager } from '../../../src/index.ts'
import { forResource, fromTokenResponse, oauth2 } from '../../../src/oauth2/index.ts'
import { browserKey, followPage, webStore } from '../../../src/web/index.ts'

/** The single-page application of docs/resources.md: one login, and an API client for each of `apis`. */
globalThis.start = ({ issuer, apis }) => {
  const source = oauth2({ issuer, clientId: 'app', grant: 'login', account: 'ada' })
  const login = createTokenManager({ source, store: webStore({ encryptionKeys: [browserKey()] }) })
  followPage(login)
  const clients = apis.map((resource) => {
    const api = axios.create({ baseURL: resource })
    attachBearer(api, forResource(login, { resource }))
    return api
  })
  globalThis.app = {
    logIn: (response) => login.adopt(fromTokenResponse(response)),
    /** @returns The statuses of ten requests to each API, all at once. */
    send: () =>
      Promise.all(Array.from({ length: 20 }, (_, n) => clients[n % 2].get('/').then(({ status }) => status, String))),
    login: () => login.status().login,
  }
}
