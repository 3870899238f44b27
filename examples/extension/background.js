/* global chrome */
// The service worker of an extension (Manifest V3). Chromium stops it after 30 s without events, but the login stays in the store.
import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { browserKey, webStore } from 'axios-evergreen/web'

const [tokenEndpoint, revocationEndpoint] = ['https://id.example.com/token', 'https://id.example.com/revoke']
const tokens = createTokenManager({
  source: oauth2({ tokenEndpoint, revocationEndpoint, clientId: 'my-extension', grant: 'login' }),
  store: webStore({ encryptionKeys: [browserKey()] }),
})
const api = axios.create({ baseURL: 'https://payments.example.com' })
attachBearer(api, tokens)

// A popup or a content script calls chrome.runtime.sendMessage({ path: '/wallet' }). The login page sends { grant }.
const act = async ({ path, grant }) => (grant ? tokens.adopt(grant) : (await api.get(path)).data)
chrome.runtime.onMessage.addListener((message, sender, answer) => {
  if (sender.id !== chrome.runtime.id) return false
  act(message).then(
    (data) => answer({ data }),
    ({ code }) => answer({ code }),
  )
  return true // answer() is called later
})
