import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'
import { inspect } from 'axios-evergreen/web/inspector'

/** The session cookie stands for the login; refresh tokens rotate. */
const source = {
  id: 'site',
  obtain: ({ signal }) => tokenCall({ grant_type: 'session' }, signal),
  refresh: (refresh_token, { signal }) => tokenCall({ grant_type: 'refresh_token', refresh_token }, signal),
}

/** A user logs in, and the package makes the token requests. */
const login = (options) =>
  oauth2({ tokenEndpoint: new URL('/token', location.href), clientId: 'app', grant: 'login', ...options })

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

/**
 * Starts the app that tests control. `web`: the options of `webStore`, if tokens are shared; `byLogin`: true, or options of `oauth2`; `code`: the code of
 * a login by redirect that has just ended.
 */
globalThis.start = async (given = {}) => {
  const { adapter, baseURL = '/api', header, web, seals, allowInsecureHttp, byLogin, code, ...options } = given
  const encryptionKeys = seals ? [await browserKey('page')] : undefined
  const store = web && webStore({ ...web, ...(encryptionKeys && { encryptionKeys }) })
  const tokens = createTokenManager({
    source: byLogin ? login(byLogin === true ? {} : byLogin) : source,
    ...(store && { store }),
    ...options,
  })
  const events = []
  for (const name of EVENTS)
    tokens.on(name, ({ error, ...event }) => void events.push({ name, ...event, ...(error && { code: error.code }) }))
  const api = axios.create({ baseURL, ...(adapter && { adapter }) })
  attachBearer(api, tokens, { ...(header && { header }), ...(allowInsecureHttp && { allowInsecureHttp }) })
  const adopted = async (asked) => {
    await tokens.adopt(asked)
    return (await asked).accessToken
  }
  // As in docs/logins.md#log-in-by-redirect: before followPage().
  const cameBack = code && adopted(tokenCall({ grant_type: 'authorization_code', code }))
  cameBack?.catch(() => undefined)
  followPage(tokens)
  /** @returns The status of the response, or the code of the error. */
  const send = async (config) => {
    try {
      return (await api.request(config)).status
    } catch (error) {
      return error.response?.status || error.code || String(error)
    }
  }
  /** @returns The access token of the login. */
  const logIn = async (person = 'ada') => adopted(await tokenCall({ grant_type: 'session', person }))
  globalThis.app = { api, tokens, events, send, logIn, cameBack }
}

/** Shows an inspector panel for the app that was started. */
globalThis.look = () => {
  const parent = document.body.appendChild(document.createElement('div'))
  parent.id = 'panel'
  globalThis.app.remove = inspect(globalThis.app.tokens, parent, { api: globalThis.app.api })
}

/** @returns The names of the axes of the panel, and the titles of their dots. */
globalThis.axes = () =>
  Array.from(document.querySelectorAll('#panel [role=img] > span'), (label) => ({
    name: label.textContent,
    dots: Array.from(label.parentElement.querySelectorAll('i'), ({ title }) => title),
  }))

if (globalThis.WorkerGlobalScope)
  globalThis.onmessage = async ({ data: { renews, ...options }, source }) => {
    await globalThis.start(options)
    const { send, tokens } = globalThis.app
    const outcome = renews ? await tokens.renew().then(() => 'renewed', String) : await send({ url: '/wallet' })
    // A service worker responds to the page that asked.
    const page = source ?? globalThis
    page.postMessage([outcome, tokens.status().counts])
  }
