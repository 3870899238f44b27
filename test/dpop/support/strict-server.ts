import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sha256, verified } from './verifier.ts'

/** Responds to a request instead of the server. */
type Fault = (reply: ServerResponse) => unknown
/** Which nonce a proof needs. `another`: never the one that it has. */
type Demand = 'none' | 'latest' | 'another'

export interface StrictServer {
  readonly origin: string
  readonly tokenEndpoint: string
  /** The grant and the status of each token request. */
  readonly tokenCalls: string[]
  /** The method, the path with its query, the status and the flaw of the proof, if any, of each request of the API. */
  readonly requests: string[]
  /** The bodies that the API accepted. */
  readonly bodies: string[]
  /** The refresh tokens that were presented with the proof of another key. */
  readonly strangers: string[]
  /** The nonces that proofs need, of the token endpoint and of the API. */
  readonly demands: { token: Demand; api: Demand }
  /** From now on both require other nonces. With `silent`, responses of status 2xx do not have them. */
  changeNonces(silent?: boolean): void
  /** The next responses of the token endpoint. */
  readonly tokenFaults: Fault[]
  /** The next responses of the API to requests with a valid proof. */
  readonly apiFaults: Fault[]
  tokenType: string
  /** Whether responses have a `Date`. Default true. */
  showsDate: boolean
  revokeAccessTokens(): void
  /** A login that ended elsewhere. @returns its refresh token, bound to this key */
  logIn(thumbprint: string): string
  end(): Promise<void>
}

const TOLERANCE_S = 60
/** What pages of other origins need: see docs/dpop.md. */
const CROSS_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, DPoP',
  'Access-Control-Expose-Headers': 'DPoP-Nonce, WWW-Authenticate, Date',
}

/** A token endpoint and an API that check proofs as strictly as RFC 9449 allows. @param now Their clock, epoch ms. */
export async function startStrictServer(now: () => number): Promise<StrictServer> {
  const tokenCalls: string[] = []
  const requests: string[] = []
  const bodies: string[] = []
  const strangers: string[] = []
  const tokenFaults: Fault[] = []
  const apiFaults: Fault[] = []
  const seen = new Set<string>()
  const bound = { access: new Map<string, string>(), refresh: new Map<string, string>() }
  let nonces = { token: 'token-nonce-1', api: 'api-nonce-1' }
  let isSilent = false
  let issued = 0

  /** RFC 9449, section 4.3. */
  function thumbprintIn(request: IncomingMessage, what: 'token' | 'api', token?: string): string {
    const { header, claims, thumbprint } = verified(request.headers.dpop)
    if (header.alg !== 'ES256') throw new Error('algorithm')
    if (claims.htm !== request.method) throw new Error('htm')
    if (claims.htu !== server.origin + new URL(request.url!, server.origin).pathname) throw new Error('htu')
    if (claims.ath !== (token === undefined ? undefined : sha256(token))) throw new Error('ath')
    const demand = server.demands[what]
    if (demand === 'another') nonces[what] = randomUUID()
    if (demand !== 'none' && claims.nonce !== nonces[what]) throw new Error('nonce')
    if (Math.abs(claims.iat - now() / 1_000) > TOLERANCE_S) throw new Error('iat')
    if (seen.has(claims.jti)) throw new Error('jti')
    seen.add(claims.jti)
    return thumbprint
  }

  function answer(reply: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): unknown {
    return reply.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

  async function answerToken(request: IncomingMessage, reply: ServerResponse): Promise<unknown> {
    const form = new URLSearchParams(await text(request))
    const grant = form.get('grant_type')
    if (server.demands.token !== 'none' && !isSilent) reply.setHeader('DPoP-Nonce', nonces.token)
    const told = (status: number, body: object) => {
      tokenCalls.push(`${grant} ${status}${'error' in body ? ` ${body.error as string}` : ''}`)
      return answer(reply, status, body)
    }
    let jkt: string
    try {
      jkt = thumbprintIn(request, 'token')
    } catch (error) {
      const isNonce = (error as Error).message === 'nonce'
      if (isNonce) reply.setHeader('DPoP-Nonce', nonces.token)
      return told(400, { error: isNonce ? 'use_dpop_nonce' : 'invalid_dpop_proof', error_description: String(error) })
    }
    const fault = tokenFaults.shift()
    if (fault) {
      tokenCalls.push(`${grant} fault`)
      return fault(reply)
    }
    if (grant === 'refresh_token') {
      const presented = form.get('refresh_token') ?? ''
      if (bound.refresh.get(presented) !== jkt) {
        strangers.push(presented)
        return told(400, { error: 'invalid_grant' })
      }
      bound.refresh.delete(presented)
    }
    issued += 1
    const pair = { access_token: `access-${issued}`, refresh_token: `refresh-${issued}` }
    bound.access.set(pair.access_token, jkt)
    bound.refresh.set(pair.refresh_token, jkt)
    return told(200, { ...pair, token_type: server.tokenType, expires_in: 600 })
  }

  async function answerApi(request: IncomingMessage, reply: ServerResponse): Promise<unknown> {
    const body = await text(request)
    const [scheme, token = ''] = (request.headers.authorization ?? '').split(' ')
    if (server.demands.api !== 'none' && !isSilent) reply.setHeader('DPoP-Nonce', nonces.api)
    const told = (status: number, flaw = '') => {
      requests.push(`${request.method} ${request.url} ${status} ${flaw}`.trim())
      const error = flaw === 'nonce' ? 'use_dpop_nonce' : flaw === 'token' ? 'invalid_token' : 'invalid_dpop_proof'
      if (flaw === 'nonce') reply.setHeader('DPoP-Nonce', nonces.api)
      return answer(
        reply,
        status,
        { flaw },
        flaw === '' ? {} : { 'WWW-Authenticate': `DPoP error="${error}", algs="ES256"` },
      )
    }
    if (scheme !== 'DPoP') return told(401, `scheme ${scheme}`)
    try {
      const jkt = thumbprintIn(request, 'api', token)
      if (bound.access.get(token) !== jkt) return told(401, 'token')
    } catch (error) {
      return told(401, (error as Error).message)
    }
    const fault = apiFaults.shift()
    if (fault) {
      requests.push(`${request.method} ${request.url} fault`)
      return fault(reply)
    }
    bodies.push(body)
    return told(200)
  }

  const http = createServer((request, reply) => {
    reply.sendDate = false
    if (server.showsDate) reply.setHeader('Date', new Date(now()).toUTCString())
    for (const [name, value] of Object.entries(CROSS_ORIGIN)) reply.setHeader(name, value)
    if (request.headers['access-control-request-method']) return void reply.writeHead(204).end()
    const answered = request.url?.startsWith('/token') ? answerToken(request, reply) : answerApi(request, reply)
    answered.catch(() => reply.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const server: StrictServer = {
    origin,
    tokenEndpoint: `${origin}/token?tenant=nobody`,
    tokenCalls,
    requests,
    bodies,
    strangers,
    demands: { token: 'none', api: 'none' },
    tokenFaults,
    apiFaults,
    tokenType: 'DPoP',
    showsDate: true,
    changeNonces(silent = false) {
      nonces = { token: `token-${randomUUID()}`, api: `api-${randomUUID()}` }
      isSilent = silent
    },
    revokeAccessTokens: () => bound.access.clear(),
    logIn(thumbprint) {
      const refreshToken = `login-${(issued += 1)}`
      bound.refresh.set(refreshToken, thumbprint)
      return refreshToken
    },
    end: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
  return server
}
