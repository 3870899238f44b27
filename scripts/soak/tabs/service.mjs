import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * One origin: a token service whose refresh tokens are for one use, an API, and pages that ask it again and again.
 *
 * @param given `scripts` of the pages and of their workers, and the `options` of both; `lifetimeMs` of access tokens; `graceMs`: for this long a used refresh token is accepted;
 * `latencyMs()`: before and after the service acts; `onCall(call)`;
 * `onReport(report)`: what a page gets back; `onOther(request)`: a request of a login that another person's login has replaced, as the page knows.
 */
export async function startService({ scripts, options, lifetimeMs, graceMs, latencyMs, onCall, onReport, onOther }) {
  /** By refresh token: its login, and when it was used. */
  const refreshTokens = new Map()
  /** By access token: its login, and its expiry. */
  const accessTokens = new Map()
  /** Who has logged in, by the number of the login. */
  const people = []
  /** Codes of redirects, with their users. Each code is for one use. */
  const codes = new Map()
  let codesMade = 0
  /** Oldest first. Those of a login have no `token`. */
  const calls = []

  function issue(login) {
    const n = accessTokens.size + 1
    const pair = { access_token: `access-${n}-of-${login}`, refresh_token: `refresh-${n}` }
    accessTokens.set(pair.access_token, { login, until: performance.now() + lifetimeMs })
    refreshTokens.set(pair.refresh_token, { login })
    return [200, { ...pair, token_type: 'Bearer', expires_in: lifetimeMs / 1_000, refresh_expires_in: 3_600 }]
  }

  function logIn(form) {
    const code = form.get('code')
    const person = code === null ? form.get('person') : codes.get(code)
    codes.delete(code)
    return person === undefined ? [400, { error: 'invalid_grant' }] : issue(people.push(person) - 1)
  }

  function redeem(token) {
    const now = performance.now()
    const { login, usedAt = now } = refreshTokens.get(token) ?? {}
    if (login === undefined || now - usedAt > graceMs) return [400, { error: 'invalid_grant' }]
    if (graceMs > 0) refreshTokens.set(token, { login, usedAt })
    else refreshTokens.delete(token)
    return issue(login)
  }

  async function answerToken(request, response) {
    const form = new URLSearchParams(await textOf(request))
    const token = form.get('refresh_token') ?? undefined
    const tab = Number(new URL(request.headers.referer ?? 'http://nobody').searchParams.get('tab'))
    const call = { tab, token, at: performance.now(), end: undefined, endedAt: undefined, disturbed: undefined }
    const ended = (end) => {
      call.end ??= end
      call.endedAt ??= performance.now()
    }
    response.once('close', () => ended('no page waited'))
    calls.push(call)
    onCall(call)
    await pause(latencyMs())
    // A service performs the exchange even if no page waits any longer.
    const [status, answer] = service.trouble ? [service.trouble, {}] : token === undefined ? logIn(form) : redeem(token)
    if (status === 200) await pause(latencyMs())
    ended(status)
    send(response, status, answer)
  }

  /** A page sends the last login that it knows of: one that it has adopted, or that the API has responded with. */
  function answerApi({ headers }, response) {
    const { login, until = 0 } = accessTokens.get(headers.authorization?.slice('Bearer '.length)) ?? {}
    // Accepted for a moment after its expiry, because the request may have been in flight.
    const isGood = until + 1_000 > performance.now()
    if (!isGood) service.refused += 1
    const known = Number(headers['x-login'])
    if (isGood && login < known && people[login] !== people[known]) onOther({ login, known, at: performance.now() })
    send(response, isGood ? 200 : 401, { login })
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://site')
    const given = (name) => Number(searchParams.get(name))
    const html = (text) => send(response, 200, text, 'text/html')
    const routes = {
      '/main.js': () => send(response, 200, scripts.script, 'text/javascript'),
      '/worker.js': () => send(response, 200, `${clockOf(service.offsetMs)}\n${scripts.worker}`, 'text/javascript'),
      '/tab': () => html(pageOf(given('tab'), service.offsetMs, { ...options, code: searchParams.get('code') })),
      // The provider, where a user is logged in.
      '/authorize': () => {
        const code = `code-${(codesMade += 1)}`
        codes.set(code, searchParams.get('person'))
        response
          .writeHead(302, { Location: `/tab?tab=${given('tab')}&code=${code}`, 'Cache-Control': 'no-store' })
          .end()
      },
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
    /** Requests that the API rejected. */
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

const clockOf = (offsetMs) => `{ const { now } = Date; Date.now = () => now() + ${offsetMs} }`

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
