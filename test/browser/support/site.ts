import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One request of the API. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly token: string | undefined
}

/** A site with its pages, its API and its token service, on loopback. */
export interface Site {
  readonly port: number
  readonly origin: string
  readonly received: readonly Received[]
  /** Token requests, oldest first. */
  readonly calls: readonly { readonly grant: string; readonly refreshToken: string | undefined }[]
  /** How often a refresh token was presented that had been presented before. */
  readonly reused: number
  lifetimeMs: number
  /** If set, the response to all token requests. */
  failure: { status: number; headers?: Record<string, string> } | undefined
  /** The service accepts used refresh tokens, as some do for a while. */
  isForgiving: boolean
  /** From now on the service acts on token requests, but holds their responses until `release`. `unread`: it does not act before, and never if no page waits then. */
  hold(unread?: 'unread'): void
  release(): void
  /** Whether a page is frozen. A page that requests `/frozen` synchronously is blocked until `thaw`; with `/frozen?500`, for 500 ms. */
  readonly isFrozen: boolean
  thaw(): void
  /** Makes the API reject all current tokens. */
  revokeAccess(): void
  /** Additional page scripts of a test, by path. */
  readonly scripts: Map<string, string>
  close(): Promise<void>
}

/** @param bundles A folder per bundler, with `main.js` in it. */
export async function startSite(bundles: string, foreign?: Site): Promise<Site> {
  const received: Received[] = []
  const calls: { grant: string; refreshToken: string | undefined }[] = []
  const sockets = new Set<Socket>()
  const accepted = new Set<string>()
  const living = new Set<string>()
  const scripts = new Map<string, string>()
  let issued = 0
  let reused = 0
  let frozen: ServerResponse | undefined
  let held: { over: Promise<void>; end: () => void; isUnread: boolean } | undefined

  async function answerToken(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const form = new URLSearchParams(await textOf(request))
    const grant = form.get('grant_type') ?? ''
    const refreshToken = form.get('refresh_token') ?? undefined
    calls.push({ grant, refreshToken })
    if (site.failure) return send(response, site.failure.status, '{}', site.failure.headers)
    if (held?.isUnread) await held.over
    if (response.destroyed) return undefined
    const isGood =
      refreshToken === undefined || (site.isForgiving ? living.has(refreshToken) : living.delete(refreshToken))
    if (!isGood) {
      reused += 1
      return send(response, 400, '{"error":"invalid_grant"}')
    }
    issued += 1
    const pair = { access_token: `access-${issued}`, refresh_token: `refresh-${issued}` }
    accepted.add(pair.access_token)
    living.add(pair.refresh_token)
    await held?.over
    return send(
      response,
      200,
      JSON.stringify({ ...pair, token_type: 'Bearer', expires_in: site.lifetimeMs / 1_000, refresh_expires_in: 3_600 }),
    )
  }

  function answerApi(request: IncomingMessage, response: ServerResponse, path: string): unknown {
    const { method = '', headers } = request
    const { authorization, 'x-api-token': named } = headers
    const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*, Authorization' }
    if (method === 'OPTIONS') return send(response, 204, '', cors)
    const token = authorization ?? named?.toString()
    received.push({ method, path, token })
    if (path === '/api/away') return send(response, 302, '', { Location: `${foreign?.origin}/api/refused` })
    if (path === '/api/acts') return send(response, 303, '', { Location: '/api/refused' })
    if (path === '/api/moved') return send(response, 302, '', { Location: '/api/wallet' })
    const isAccepted = accepted.has(token?.split(' ')[1] ?? '') && path !== '/api/refused'
    return send(response, isAccepted ? 200 : 401, '{"ok":true}', cors)
  }

  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://site')
    if (pathname === '/frozen' && search) return void setTimeout(() => response.end(), Number(search.slice(1)))
    if (pathname === '/frozen') return void (frozen = response)
    if (pathname === '/token') return void answerToken(request, response)
    if (pathname.startsWith('/api/')) return answerApi(request, response, pathname)
    const file = join(bundles, pathname)
    if (pathname.endsWith('.js') && existsSync(file))
      return send(response, 200, readFileSync(file, 'utf8'), { 'Content-Type': 'text/javascript' })
    const [, bundler = 'esbuild'] = /^\/(\w+)$/.exec(pathname) ?? []
    const script = scripts.get(pathname) ?? `import '/${bundler}/main.js'`
    send(response, 200, `<!doctype html><script type="module">${script}</script>`, {
      'Content-Type': 'text/html',
      // With `no-store` it would not be kept in the back/forward cache.
      'Cache-Control': 'no-cache',
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const site: Site = {
    port,
    origin: `http://127.0.0.1:${port}`,
    received,
    calls,
    get reused() {
      return reused
    },
    lifetimeMs: 600_000,
    failure: undefined,
    isForgiving: false,
    hold(unread) {
      let end = () => {}
      const over = new Promise<void>((resolve) => (end = resolve))
      held = { over, end, isUnread: unread !== undefined }
    },
    release() {
      held?.end()
      held = undefined
    },
    get isFrozen() {
      return frozen !== undefined
    },
    thaw: () => void frozen?.end(),
    revokeAccess: () => accepted.clear(),
    scripts,
    async close() {
      site.release()
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return site
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): unknown {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers })
  return response.end(body)
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

/** Waits for what the site sees, however long that takes. */
export async function until(holds: () => boolean): Promise<void> {
  const givenUpAt = performance.now() + 300_000
  while (!holds()) {
    if (performance.now() > givenUpAt) throw new Error(`it never came to: ${String(holds)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
