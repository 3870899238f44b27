// The floor: by hand, the least code that does on each request what axios-evergreen does, and renews and replays. It leaves out what few requests need:
// other adapters and headers, streams, proofs, stores, waiting limits, cool-downs, requests of a login that has ended.
import { getAdapter } from 'axios'
import { marginMs } from '../lib/token-call.mjs'

export const name = 'floor'

export async function create({ instance, baseUrl, obtain, lifetimeMs }) {
  const tokens = connectTokens(obtain, marginMs(lifetimeMs))
  const { origin } = new URL(baseUrl)
  const adapter = getAdapter(instance.defaults.adapter, instance.defaults)
  const leaveTokenHere = ({ href, headers }) => {
    if (new URL(href).origin !== origin) delete headers.Authorization
  }
  const isAllowed = ({ baseURL, url }) => baseURL === baseUrl && !url.includes('//')

  const send = (config) => {
    config.adapter = adapter
    if (!isAllowed(config)) return adapter(config)
    const header = tokens.peek()
    return header === undefined ? tokens.get().then((got) => sendWith(got, config)) : sendWith(header, config)
  }
  const sendWith = (header, config, isReplay = false) => {
    config.headers.Authorization = header
    config.beforeRedirect = leaveTokenHere
    return adapter(config).then(
      (response) => {
        undress(config)
        return response.status === 401 && !isReplay ? replay(header, config) : copyWithHiddenRequest(response)
      },
      (error) => {
        undress(config)
        hideRequest(error)
        hideRequest(error.response)
        if (error.response?.status === 401 && !isReplay) return replay(header, config)
        throw error
      },
    )
  }
  const replay = async (refused, config) => sendWith(await tokens.replace(refused), config, true)

  const putInPlace = (config) => {
    config.adapter = send
    return config
  }
  instance.interceptors.request.use(putInPlace, undefined, { synchronous: true })
  return { get: (url, config) => instance.get(url, config) }
}

/** The same for fetch: the least that gets a token once for all callers, gives it to one origin, and sends a request once more after a 401. */
export function floorOver(fetch, origin, obtain) {
  const start = `${origin}/`
  const tokens = connectTokens(obtain, 10_000)
  const send = (header, input, init) => fetch(input, { ...init, headers: { ...init?.headers, Authorization: header } })
  const sendTwice = (header, input, init) =>
    send(header, input, init).then(async (response) => {
      if (response.status !== 401) return response
      await response.body?.cancel()
      return send(await tokens.replace(header), input, init)
    })
  return (input, init) => {
    if (!input.startsWith(start)) return fetch(input, init)
    const header = tokens.peek()
    if (header !== undefined) return sendTwice(header, input, init)
    return tokens.get().then((got) => sendTwice(got, input, init))
  }
}

function undress(config) {
  delete config.headers.Authorization
  delete config.beforeRedirect
}

/** The header of the token that is held. All callers share one renewal. */
function connectTokens(obtain, margin) {
  let header
  let freshUntil = 0
  let renewal
  const renew = () =>
    (renewal ??= obtain()
      .then(({ accessToken, lifetimeMs }) => {
        freshUntil = Date.now() + lifetimeMs - margin
        return (header = `Bearer ${accessToken}`)
      })
      .finally(() => (renewal = undefined)))
  return {
    peek: () => (Date.now() < freshUntil ? header : undefined),
    get: renew,
    replace: (refused) => (refused === header ? renew() : Promise.resolve(header)),
  }
}

function copyWithHiddenRequest({ data, status, statusText, headers, config, request }) {
  mark(request)
  const copy = { data, status, statusText, headers, config }
  return Object.defineProperty(copy, 'request', {
    value: request,
    enumerable: false,
    writable: true,
    configurable: true,
  })
}

function hideRequest(holder) {
  if (!holder?.request) return
  mark(holder.request)
  Object.defineProperty(holder, 'request', { enumerable: false })
}

function mark(request) {
  request[Symbol.for('nodejs.util.inspect.custom')] = request.toJSON = shown
}

function shown() {
  return `Request ${this.method} ${this.path ?? this.url}`
}
