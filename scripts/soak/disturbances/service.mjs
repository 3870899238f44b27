import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * One origin: a strict token service, an API, and the pages of a round. A refresh token is for one use. A second presentation ends the login, with
 * all of its tokens. All counts of a round are kept here, so that none is lost with a tab.
 *
 * @param given `scripts` of the pages and of their workers, and the `options` of both; `lifetimeMs` of access tokens;
 * `passes(moment, call)`: awaited when a refresh was `read`, and when the service has `acted` on it; called when its response was `sent`.
 */
export async function startService({ scripts, options, lifetimeMs, passes }) {
  /** By refresh token: its login, and the call that used it. */
  const refreshTokens = new Map()
  /** By access token: its login, and its expiry. */
  const accessTokens = new Map()
  /** Logins that have not ended. */
  const living = new Set()
  const service = {
    /** Oldest first. Those without a `token` begin a login. */
    calls: [],
    /** Refreshes with a token that an earlier call had used: `[call, earlier]`. */
    again: [],
    /** What pages have reported, by tab: `{ status, code, token, at }`. */
    heard: new Map(),
    reports: [],
    /** How far the clocks of the pages are from ours. */
    offsetMs: 0,
    origin: '',
    isLiving: (login) => living.has(login),
    /** The newest refresh of this login. */
    newest: (login) => service.calls.findLast((call) => call.login === login && call.status === 200),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  const now = () => performance.now() + service.offsetMs

  function issued(call, login) {
    const n = accessTokens.size + 1
    Object.assign(call, { status: 200, login, n })
    accessTokens.set(`access-${n}`, { login, n, until: now() + lifetimeMs })
    refreshTokens.set(`refresh-${n}`, { login })
    const tokens = { access_token: `access-${n}`, refresh_token: `refresh-${n}`, token_type: 'Bearer' }
    return { ...tokens, expires_in: lifetimeMs / 1_000, refresh_expires_in: 86_400 * 30 }
  }

  function actedOn(call) {
    if (call.token === undefined) {
      living.add(service.calls.length)
      return issued(call, service.calls.length)
    }
    const { login, usedBy } = refreshTokens.get(call.token) ?? {}
    if (usedBy) {
      service.again.push([call, usedBy])
      living.delete(login)
    }
    if (living.has(login)) {
      refreshTokens.set(call.token, { login, usedBy: call })
      return issued(call, login)
    }
    Object.assign(call, { status: 400, login })
    return { error: 'invalid_grant' }
  }

  async function answerToken(request, response) {
    const form = new URLSearchParams(await textOf(request))
    const tab = Number(new URL(request.headers.referer ?? 'http://nobody').searchParams.get('tab'))
    const call = { tab, token: form.get('refresh_token') ?? undefined, at: performance.now() }
    // A server may act on a request whose sender has gone. Here it does not, so that each such token is still unused.
    if (call.token !== undefined) await passes('read', call)
    if (response.destroyed || call.isDropped) return
    service.calls.push(call)
    const body = actedOn(call)
    if (call.token !== undefined) await passes('acted', call)
    if (call.reset) return cutOff(response)
    response.once('finish', () => (call.sentAt = performance.now()))
    send(response, call.status, body)
    if (call.token !== undefined) void passes('sent', call)
  }

  function answerApi({ headers }, response) {
    const { login, until = 0, n } = accessTokens.get(headers.authorization?.slice('Bearer '.length)) ?? {}
    // Accepted for a moment after its expiry, because the request may have been in flight.
    const isGood = living.has(login) && until + 1_000 > now()
    send(response, isGood ? 200 : 401, { n })
  }

  async function hear(request, response) {
    const report = { ...JSON.parse(await textOf(request)), at: performance.now(), wasLiving: living.size > 0 }
    if (report.code !== undefined || report.status !== undefined) service.heard.set(report.tab, report)
    service.reports.push(report)
    send(response, 200, {})
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://site')
    const tab = Number(searchParams.get('tab'))
    const routes = {
      '/main.js': () => send(response, 200, scripts.script, 'text/javascript'),
      '/worker.js': () => send(response, 200, scripts.worker, 'text/javascript'),
      '/tab': () => send(response, 200, pageOf({ tab, options, offsetMs: service.offsetMs }), 'text/html'),
      '/elsewhere': () => send(response, 200, elsewhere(Number(searchParams.get('ms'))), 'text/html'),
      '/still': () => void setTimeout(() => response.end(), Number(searchParams.get('ms'))),
      '/heard': () => hear(request, response),
      '/token': () => answerToken(request, response),
      '/api/wallet': () => answerApi(request, response),
    }
    const route = routes[pathname] ?? (() => send(response, 404, {}))
    // A request that its page gave up has no body to read.
    void (async () => route())().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  service.origin = `http://127.0.0.1:${server.address().port}`
  return service
}

function send(response, status, body, type = 'application/json') {
  // With `no-store` a page would not enter the back/forward cache.
  const caching = type === 'application/json' ? 'no-store' : 'no-cache'
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': caching })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Cuts the connection in the middle of the response. If it were cut earlier, browsers would repeat a request on a reused connection. */
function cutOff(response) {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  response.write('{', () => response.destroy())
}

async function textOf(request) {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** `stepped(ms, ticks, inMs)`: in a while the wall clock of the page goes ahead by `ms`, and its monotonic clock by `ticks`. */
const pageOf = ({ offsetMs, ...given }) => `<!doctype html><link rel="icon" href="data:,"><script>
  {
    const [dateNow, perfNow] = [Date.now, performance.now.bind(performance)]
    let [at, wall, ticks] = [Infinity, 0, 0]
    const isLater = () => perfNow() >= at
    Date.now = () => dateNow() + ${offsetMs} + (isLater() ? wall : 0)
    performance.now = () => perfNow() + (isLater() ? ticks : 0)
    globalThis.stepped = (ms, more, inMs) => void ([at, wall, ticks] = [perfNow() + inMs, ms, more])
    globalThis.given = ${JSON.stringify(given)}
  }
</script><script type="module" src="/main.js"></script>`

/** A page that goes back by itself. */
const elsewhere = (ms) => `<!doctype html><link rel="icon" href="data:,"><script>
  addEventListener('load', () => setTimeout(() => history.back(), ${ms}))
</script>`
