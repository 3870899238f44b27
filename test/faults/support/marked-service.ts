import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../src/index.ts'
import { type SeenRequest, serve } from '../../service/world.ts'

/** Every secret that a program may have around a token request, each with the mark of `CANARY`. */
export const SECRETS = {
  clientId: 'canary-id-7f3a9c',
  clientSecret: 'canary-secret-5be12d',
  login: 'canary-login-1d20f6',
  password: 'canary-password-e7750b',
  access: 'canary-access-c08e41',
  refresh: 'canary-refresh-93d7aa',
  user: 'canary-user-44c1f0',
  pass: 'canary-pass-b3a982',
  query: 'canary-query-60d9e5',
  header: 'canary-header-8812cd',
  proxyUser: 'canary-proxyuser-0fe3b1',
  proxyPassword: 'canary-proxypass-a95d27',
  body: 'canary-body-2c6b14',
} as const

/** One request and the response that the service would send. */
export interface Call {
  readonly request: SeenRequest
  readonly reply: ServerResponse
  /** The document with marked tokens; `{}` on a resource. */
  readonly issued: string
}
export type Reply = (call: Call) => void
type Script = Reply | readonly Reply[]

export interface MarkedService {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  readonly seen: readonly SeenRequest[]
  /** What later calls receive: a list in this order, with proper responses afterwards; or a single reply for all calls. */
  script(tokenCalls?: Script, resources?: Script): void
  /** Token requests so far. */
  tokenCalls(): number
}

/** Both endpoints of a variant and a resource at every other path, on loopback, until the test ends. */
export async function startMarkedService(variant: 'A' | 'B', clock: Clock): Promise<MarkedService> {
  const scripts: { tokenCalls: Script; resources: Script } = { tokenCalls: [], resources: [] }
  let issuedSoFar = 0
  const next = (of: keyof typeof scripts): Reply => {
    const script = scripts[of]
    if (typeof script === 'function') return script
    scripts[of] = script.slice(1)
    return script[0] ?? granting
  }
  const server = await serve((_, reply) => {
    const request = server.seen.at(-1)!
    const isRefresh = isTokenCall(request, '/token/refresh/')
    if (isRefresh || isTokenCall(request, '/token/')) {
      issuedSoFar += 1
      const issued = variant === 'A' ? fromTokenResponse(issuedSoFar) : pairOf(issuedSoFar, clock.wallNow(), !isRefresh)
      next('tokenCalls')({ request, reply, issued })
    } else next('resources')({ request, reply, issued: '{}' })
  })
  return {
    origin: server.origin,
    seen: server.seen,
    script: (tokenCalls = [], resources = []) => Object.assign(scripts, { tokenCalls, resources }),
    tokenCalls: () => server.seen.filter((request) => isTokenCall(request, '')).length,
  }
}

function isTokenCall({ url = '' }: SeenRequest, path: string): boolean {
  return new URL(url, 'http://base').pathname.startsWith(`/api${path || '/token/'}`)
}

function fromTokenResponse(n: number): string {
  const attributes = { access: `${SECRETS.access}-${n}`, expires_in: 60, token_type: 'Bearer' }
  return JSON.stringify({ data: { type: 'auth-token', id: '7', attributes } })
}

function pairOf(n: number, now: number, signed: boolean): string {
  const refresh = `${SECRETS.refresh}-${n}`
  const attributes = {
    access: `${SECRETS.access}-${n}`,
    refresh,
    access_expired_at: stamp(now + 60_000),
    refresh_expired_at: stamp(now + 3_600_000),
    is_2fa_confirmed: false,
  }
  const data = { type: 'auth-token', id: '7', attributes }
  return JSON.stringify(signed ? { data, meta: metaOf(stamp(now, n), refresh) } : data)
}

function metaOf(time: string, refresh: string): object {
  const key = SECRETS.login + SECRETS.password
  const sign = createHmac('sha256', key).update(time + refresh)
  return { time, sign: sign.digest('hex') }
}

/** @param micros Distinguishes two instants of one virtual millisecond. */
function stamp(at: number, micros = 0): string {
  return new Date(at).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
}

/** The proper response. */
export const granting: Reply = ({ reply, issued }) => send(reply, 200, issued)

/** An error document, and headers, that quote the whole request. */
export const refusing =
  (status: number, code?: string, headers: Record<string, string> = {}): Reply =>
  (call) => {
    const detail = quoted(call)
    const errors = [{ code, detail, source: { pointer: detail } }]
    send(call.reply, status, JSON.stringify({ errors, [SECRETS.body]: detail }), { 'X-Debug': detail, ...headers })
  }

/** The page of a gateway that quotes the whole request. */
export const page =
  (status: number): Reply =>
  (call) =>
    send(call.reply, status, `<html><title>${SECRETS.body}</title>${quoted(call)}</html>`, {
      'Content-Type': 'text/html',
    })

/** A response of status 200 with a damaged document. */
export const garbled =
  (change: (issued: string) => string | Buffer, headers: Record<string, string> = {}): Reply =>
  ({ reply, issued }) =>
    send(reply, 200, change(issued), headers)

interface PairResource {
  readonly attributes: { readonly refresh: string }
}

/** A response of Variant B whose `meta.time` is `at`, with a valid signature; for refresh responses too. */
export const signedAt =
  (at: number): Reply =>
  ({ reply, issued }) => {
    const document = JSON.parse(issued) as PairResource & { data?: PairResource }
    const { attributes } = document.data ?? document
    const meta = metaOf(stamp(at), attributes.refresh)
    send(reply, 200, JSON.stringify({ ...document, meta }))
  }

/** A response that quotes nothing. */
export const plain =
  (status: number, body = '{"ok":true}', headers: Record<string, string> = {}): Reply =>
  ({ reply }) =>
    send(reply, status, body, headers)

/** A redirect to an address with secrets in it. */
export const redirecting =
  (status: number): Reply =>
  (call) => {
    const { user, pass, query } = SECRETS
    send(call.reply, status, quoted(call), {
      Location: `http://${user}:${pass}@127.0.0.1:1/${query}?key=${query}#${query}`,
    })
  }

/** The connection ends without a response. */
export const dropping: Reply = ({ reply }) => void reply.destroy()

/** The connection ends in the middle of the response. */
export const breakingOff: Reply = ({ reply, issued }) => {
  reply.writeHead(200, { 'Content-Length': 1_000 })
  reply.write(issued, () => reply.destroy())
}

export const silent: Reply = () => undefined

function quoted({ request, issued }: Call): string {
  return JSON.stringify([Object.values(SECRETS), request.body, request.headers, issued])
}

function send(
  reply: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  // The service's clock is the virtual one.
  reply.sendDate = false
  reply.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body)
}
