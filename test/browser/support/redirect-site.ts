import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

/** A site whose users log in at a real oidc-provider. */
export interface RedirectSite {
  readonly origin: string
  readonly issuer: string
  /** How often the provider was called, by method and path. */
  asked(request: string): Promise<number>
  close(): Promise<void>
}

/**
 * @param pages A folder with the scripts of the pages.
 * @param script The script of the page that all addresses show.
 */
export async function startRedirectSite(pages: string, script = 'redirect'): Promise<RedirectSite> {
  let issuer = ''
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '', 'http://site')
      const { authorization = '' } = request.headers
      if (pathname === '/api/me') {
        const told = await fetch(`${issuer}/me`, { headers: { authorization } })
        const { sub } = told.ok ? ((await told.json()) as { sub: string }) : { sub: '' }
        response.writeHead(told.status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ name: sub }))
      } else if (pathname === '/api/transfers') {
        const told = await fetch(`${issuer}/me`, { headers: { authorization } })
        const { level = 'none' } = (await told.json()) as { level?: string }
        const [status, headers, body] = responseTo(level, request.url ?? '')
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
      } else if (pathname.endsWith('.js')) {
        const text = readFileSync(join(pages, pathname), 'utf8').replaceAll('https://login.example.com', issuer)
        response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(text)
      } else {
        response.writeHead(200, { 'Content-Type': 'text/html' })
        response.end(`<!doctype html>${WATCH}<div id="app"></div><script type="module" src="/${script}.js"></script>`)
      }
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // With stdout and stderr apart, the provider's warnings about production do not show.
  const settings = { workerData: { page: origin }, stdout: true, stderr: true }
  const worker = new Worker(join(__dirname, '../../oauth2/support/page-provider.mjs'), settings)
  let asked = Promise.resolve<unknown>(undefined)
  const call = <Result>(name: string): Promise<Result> => {
    const answered = asked.then(async () => {
      worker.postMessage({ name })
      const [{ result, error }] = (await once(worker, 'message')) as [{ result: Result; error?: string }]
      if (error !== undefined) throw new Error(error)
      return result
    })
    asked = answered.catch(() => undefined)
    return answered
  }
  issuer = await call('start')
  return {
    origin,
    issuer,
    asked: async (request) => (await call<string[]>('requests')).filter((one) => one === request).length,
    async close() {
      server.closeAllConnections()
      server.close()
      await call('stop')
      await worker.terminate()
    },
  }
}

/** An API whose transfers require a second factor (RFC 9470). @param level The `acr` of the login. */
function responseTo(
  level: string,
  url: string,
): readonly [status: number, headers: Record<string, string>, body: object] {
  // No level is enough for some.
  if (level === 'mfa' && !url.includes('never')) return [200, {}, { paid: `paid with ${level}` }]
  return [401, { 'WWW-Authenticate': 'Bearer error="insufficient_user_authentication", acr_values="mfa"' }, {}]
}

/**
 * Records everything that is shown, even for one frame: `globalThis.shown`. On the callback page of a tab whose session storage has `holds`, the
 * response to the token request never arrives: `globalThis.isHeld`.
 */
const WATCH = `<script>
  globalThis.shown = new Set()
  new MutationObserver(() => {
    for (const id of ['out', 'home']) if (document.getElementById(id)?.hidden === false) shown.add(id)
  }).observe(document, { attributes: true, childList: true, subtree: true })
  const { fetch: send } = globalThis
  if (sessionStorage.getItem('holds') !== null && location.pathname === '/callback')
    globalThis.fetch = async (address, init) => {
      const answer = await send(address, init)
      if (init?.method !== 'POST') return answer
      globalThis.isHeld = true
      return new Promise(() => {})
    }
</script>`
