import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * One origin: a token service whose refresh tokens are for one use, an API, and pages that ask it again and again.
 *
 * @param given `script` of the pages and their `options`; `lifetimeMs` of access tokens; `graceMs`: for this long a used refresh token is accepted;
 * `latencyMs()`: before and after the service acts; `onCall(call)`; `onReport(report)`: what a page gets back.
 */
export async function startService({ script, options, lifetimeMs, graceMs, latencyMs, onCall, onReport }) {
  /** By refresh token: when it was used. */
  const refreshTokens = new Map()
  /** By access token: until when. */
  const accessTokens = new Map()
  /** Oldest first. Those of a login have no `token`. */
  const calls = []

  function issue() {
    const n = accessTokens.size + 1
    const pair = { access_token: `access-${n}`, refresh_token: `refresh-${n}` }
    accessTokens.set(pair.access_token, performance.now() + lifetimeMs)
    refreshTokens.set(pair.refresh_token, undefined)
    return [200, { ...pair, token_type: 'Bearer', expires_in: lifetimeMs / 1_000, refresh_expires_in: 3_600 }]
  }

  function redeem(token) {
    const now = performance.now()
    const usedAt = refreshTokens.get(token) ?? now
    if (!refreshTokens.has(token) || now - usedAt > graceMs) return [400, { error: 'invalid_grant' }]
    if (graceMs > 0) refreshTokens.set(token, usedAt)
    else refreshTokens.delete(token)
    return issue()
  }

  async function answerToken(request, response) {
    const token = new URLSearchParams(await textOf(request)).get('refresh_token') ?? undefined
    const tab = Number(new URL(request.headers.referer ?? 'http://nobody').searchParams.get('tab'))
    const call = { tab, token, at: performance.now(), end: undefined, endedAt: undefined, disturbed: undefined }
    const ended = (end) => {
      call.end ??= end
      call.endedAt ??= performance.now()
    }
    response.once('close', () => ended('nobody waited'))
    calls.push(call)
    onCall(call)
    await pause(latencyMs())
    // A service acts even if nobody waits any longer.
    const [status, answer] = service.trouble ? [service.trouble, {}] : token === undefined ? issue() : redeem(token)
    if (status === 200) await pause(latencyMs())
    ended(status)
    send(response, status, answer)
  }

  function answerApi(request, response) {
    const until = accessTokens.get(request.headers.authorization?.slice('Bearer '.length)) ?? 0
    // A moment longer than it lives: the request was on its way.
    const isGood = until + 1_000 > performance.now()
    if (!isGood) service.refused += 1
    send(response, isGood ? 200 : 401, {})
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://site')
    const given = (name) => Number(searchParams.get(name))
    const html = (text) => send(response, 200, text, 'text/html')
    const routes = {
      '/main.js': () => send(response, 200, script, 'text/javascript'),
      '/tab': () => html(pageOf(given('tab'), service.offsetMs, options)),
      '/elsewhere': () => html(elsewhere(given('ms'))),
      '/still': () => void setTimeout(() => response.end(), given('ms')),
      '/report': async () => send(response, 200, onReport(JSON.parse(await textOf(request)))),
      '/token': () => answerToken(request, response),
      '/api/wallet': () => answerApi(request, response),
    }
    const route = routes[pathname] ?? (() => send(response, 404, {}))
    // A request that its page gave up has no body to read.
    void (async () => route())().catch(() => response.destroy())
  })
  const service = {
    calls,
    /** Requests that the API refused. */
    refused: 0,
    /** How wrong the clock of the browser is. */
    offsetMs: 0,
    /** A status that all token calls get. */
    trouble: undefined,
    origin: '',
    async reach() {
      server.listen(Number(new URL(service.origin || 'http://x:0').port), '127.0.0.1')
      await once(server, 'listening')
      service.origin = `http://127.0.0.1:${server.address().port}`
    },
    async cutOff() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  await service.reach()
  return service
}

function send(response, status, body, type = 'application/json') {
  // With `no-store` a page would not enter the back/forward cache.
  const caching = type === 'application/json' ? 'no-store' : 'no-cache'
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': caching })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

async function textOf(request) {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** The wall clock of the page is wrong by `offsetMs`. */
const pageOf = (tab, offsetMs, options) => `<!doctype html><link rel="icon" href="data:,"><script>
  {
    const { now } = Date
    let [offset, next, at] = [${offsetMs}, 0, Infinity]
    Date.now = () => now() + (now() < at ? offset : next)
    const stepped = (ms, then) => ([offset, next, at] = [Date.now() - now(), ms, then])
    globalThis.soak = { tab: ${tab}, options: ${JSON.stringify(options)}, stepped }
  }
</script><script type="module" src="/main.js"></script>`

/** A page that goes back by itself. */
const elsewhere = (ms) => `<!doctype html><link rel="icon" href="data:,"><script>
  addEventListener('load', () => setTimeout(() => history.back(), ${ms}))
</script>`
