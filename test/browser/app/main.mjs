import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { followPage, webStore } from 'axios-evergreen/web'
import { inspect } from 'axios-evergreen/web/inspector'

/** The session cookie stands for the login; refresh tokens rotate. */
const source = {
  id: 'site',
  obtain: ({ signal }) => tokenCall({ grant_type: 'session' }, signal),
  refresh: (refresh_token, { signal }) => tokenCall({ grant_type: 'refresh_token', refresh_token }, signal),
}

/** A person logs in, and the package makes the token calls. */
const login = () => oauth2({ tokenEndpoint: new URL('/token', location.href), clientId: 'app', grant: 'login' })

async function tokenCall(body, signal) {
  const response = await fetch('/token', { method: 'POST', body: new URLSearchParams(body), signal })
  if (!response.ok) throw response
  const { access_token, expires_in, refresh_token, refresh_expires_in } = await response.json()
  return {
    accessToken: access_token,
    accessLifetimeMs: expires_in * 1_000,
    refreshToken: refresh_token,
    refreshLifetimeMs: refresh_expires_in * 1_000,
  }
}

const EVENTS = ['renewed', 'retry', 'renewalFailed', 'suspicious', 'suspicionSettled', 'anomaly', 'storeUnavailable']

/** Starts the app that tests control. `web`: the options of `webStore`, if tokens are shared. */
globalThis.start = async (given = {}) => {
  const { adapter, baseURL = '/api', header, web, seals, allowInsecureHttp, byLogin, ...options } = given
  const encryptionKeys = seals ? [{ id: 'page', key: await pageKey() }] : undefined
  const store = web && webStore({ ...web, ...(encryptionKeys && { encryptionKeys }) })
  const tokens = createTokenManager({ source: byLogin ? login() : source, ...(store && { store }), ...options })
  const events = []
  for (const name of EVENTS)
    tokens.on(name, ({ error, ...event }) => void events.push({ name, ...event, ...(error && { code: error.code }) }))
  const api = axios.create({ baseURL, ...(adapter && { adapter }) })
  attachBearer(api, tokens, { ...(header && { header }), ...(allowInsecureHttp && { allowInsecureHttp }) })
  followPage(tokens)
  /** @returns The status of the answer, or the code of the error. */
  const send = async (config) => {
    try {
      return (await api.request(config)).status
    } catch (error) {
      return error.response?.status || error.code || String(error)
    }
  }
  const logIn = async () => tokens.adopt(await tokenCall({ grant_type: 'session' }))
  globalThis.app = { api, tokens, events, send, logIn }
}

/** Shows an inspector panel for the app that was started. */
globalThis.look = () => {
  const parent = document.body.appendChild(document.createElement('div'))
  parent.id = 'panel'
  globalThis.app.remove = inspect(globalThis.app.tokens, parent, { api: globalThis.app.api })
}

/** @returns The names of the axes of the panel, and the titles of their dots. */
globalThis.axes = () =>
  Array.from(document.querySelectorAll('#panel span'), (label) => ({
    name: label.textContent,
    dots: Array.from(label.parentElement.querySelectorAll('i'), ({ title }) => title),
  }))

/** A key of this browser that no script can read. It is made once, and then kept. */
async function pageKey() {
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open('keys', 1)
    request.onupgradeneeded = () => request.result.createObjectStore('keys')
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  return new Promise((resolve, reject) => {
    const keys = database.transaction('keys', 'readwrite').objectStore('keys')
    const request = keys.get('tokens')
    request.onsuccess = () => {
      if (!request.result) keys.put(made, 'tokens')
      resolve(request.result ?? made)
    }
    request.onerror = () => reject(request.error)
  })
}

if (globalThis.WorkerGlobalScope)
  globalThis.onmessage = async ({ data }) => {
    await globalThis.start(data)
    globalThis.postMessage([await globalThis.app.send({ url: '/wallet' }), globalThis.app.tokens.status().counts])
  }
