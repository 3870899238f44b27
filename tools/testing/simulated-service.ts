import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FaultQueue, type RequestKind, type SimulatedFault } from './fault-queue.ts'
import { loginEndpoint, oauthEndpoints } from './oauth-endpoint.ts'
import { proofReader } from './proof-reader.ts'
import { challengeTo } from './protected-resource.ts'
import { OAUTH_PATHS, type Route } from './routes.ts'
import type { SimulatedServiceOptions } from './service-options.ts'
import { serviceSettings } from './service-options.ts'
import { serve } from './serving.ts'
import { loginOf, type SimulatedLogin } from './simulated-login.ts'
import { type Reply, errorReply } from './token-document.ts'
import { throttleOf, tokenEndpoint } from './token-endpoint.ts'
import { newFamily, TokenLedger } from './token-ledger.ts'

export interface SimulatedService {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly baseUrl: string
  /**
   * An OAuth 2.0 token endpoint (RFC 6749) of the same service, for `client`: client credentials, and rotating refresh tokens. The second use of a refresh
   * token gets 400 `invalid_grant`, and revokes all tokens descended from the same token set. The client authenticates with HTTP Basic or in the body. Tokens
   * that are requested with a proof of possession (DPoP, RFC 9449) are bound to its key: each request and refresh with them needs a proof of the same key. The
   * response to client credentials has a refresh token too: RFC 6749 advises against that, but some servers do it. The tokens of a login may also be refreshed
   * by a public client: any `client_id`, no secret.
   */
  readonly tokenEndpoint: string
  /**
   * Revokes tokens (RFC 7009), with the same authentication as `tokenEndpoint`. Revoking a refresh token revokes all tokens descended from the same token
   * set; revoking an access token revokes only that. The throttle does not count this.
   */
  readonly revocationEndpoint: string
  /**
   * A login for pages without a backend: a form POST, in which `subject` may name the user, returns `logIn(subject).answer`. No password is required. The
   * throttle does not count this.
   */
  readonly loginEndpoint: string
  /** The credentials that Variant A and `tokenEndpoint` accept; random for each service. */
  readonly client: { clientId: string; clientSecret: string }
  /** The credentials that Variant B accepts; random for each service. */
  readonly login: { login: string; password: string }
  /**
   * Every request served, oldest first. A request is added when its response is sent, or when it is dropped or left hanging. `at` is that moment,
   * epoch ms of this machine; `path` is as received, with the query; `status` is 0 if no response was sent. Requests
   * that never arrived in full are missing.
   */
  readonly log: readonly { at: number; kind: RequestKind; method: string; path: string; status: number }[]
  /** How many requests of `kind` the log holds. */
  count(kind: RequestKind): number
  /**
   * Applies `fault` to the next `times` (default 1) requests of `kind`. Faults of one kind are applied in the order of the calls, before the
   * throttle: if a fault keeps the service from acting, the throttle does not count the request.
   *
   * @throws {TypeError | RangeError} naming the argument and its value.
   */
  failNext(kind: RequestKind, fault: SimulatedFault, times?: number): void
  /**
   * Logs in a user, and issues a first token set for `adopt()` of a token manager whose source refreshes at `tokenEndpoint`. Neither
   * the log nor the throttle counts this.
   *
   * @param subject The user. Returned as `subject`, and as `sub` of the ID token in `answer`.
   */
  logIn(subject?: string): Promise<SimulatedLogin>
  /** Revokes all access tokens issued so far. Refresh tokens stay valid. */
  revokeAccessTokens(): void
  /**
   * A thief uses the current refresh token (the last one issued that is still valid): it is superseded, and the thief has
   * the next token set. Neither the log nor the throttle counts this. Rejects with an Error if there is no such token.
   */
  stealRefreshToken(): Promise<void>
  /** Ends every connection, hanging ones included; resolves once the port is free. May be called again. */
  close(): Promise<void>
}

/**
 * A real HTTP server on 127.0.0.1 for tests and demos. It speaks both variants of the payment service's protocol (`docs/token-service.md`), and OAuth 2.0.
 * Like any server it keeps the process alive until `close()`.
 *
 * Every path but `token/` and `token/refresh/` (with or without the slash) and those of the three `…Endpoint` members is a protected resource. With
 * a valid `Authorization: Bearer <access>`, or `DPoP <access>` and a proof if the token is bound to a key, it returns 200 and echoes the request as JSON,
 * `{ method, path, headers, body }`: `path` with the query, `body` as text, `headers` without `authorization`, so that no token is echoed. Otherwise it
 * returns 401. If a token was presented, `WWW-Authenticate` has its scheme and an error, such as `Bearer error="invalid_token"` (RFC 6750, section 3.1).
 *
 * Pages of any origin may call it (CORS). Faults do not apply to preflights, and the log does not contain them.
 *
 * All responses have a `Date` by the service's clock, which also decides what has expired. A body over 1 MiB gets 413
 * before faults, throttle and credentials are checked.
 *
 * @example
 * ```ts
 * import { clientCredentials, createTokenManager } from 'axios-evergreen'
 * import { startTokenService } from 'axios-evergreen/testing'
 *
 * const service = await startTokenService({ accessLifetimeMs: 60_000 })
 * const tokens = createTokenManager({ source: clientCredentials({ baseUrl: service.baseUrl, ...service.client }) })
 * service.failNext('obtain', { status: 503 })
 * await tokens.getAccessToken() // the second token request returns it
 * await service.close()
 * ```
 * @throws {TypeError | RangeError} naming the option and its value; Node's own error if the port is taken.
 */
export async function startTokenService(options: SimulatedServiceOptions = {}): Promise<SimulatedService> {
  const settings = serviceSettings(options)
  const serviceNow = () => Date.now() + settings.clockOffsetMs
  const receivedAt = distinctInstants(serviceNow)
  const client = Object.freeze({ clientId: `client-${randomHex(4)}`, clientSecret: randomHex(16) })
  const login = Object.freeze({ login: `login-${randomHex(4)}`, password: randomHex(16) })
  const ledger = new TokenLedger(settings)
  const waitMs = throttleOf(settings)
  const answerTokenCall = tokenEndpoint(settings, ledger, client, login, waitMs)
  const proofs = proofReader({ demandsNonce: settings.dpopNonces })
  const oauth = oauthEndpoints(settings, ledger, client, waitMs, proofs)
  const faults = new FaultQueue()
  const log: SimulatedService['log'][number][] = []

  function answerTo(request: IncomingMessage, { kind, isOAuth }: Route, body: string): Reply {
    const { headers, method = '', url = '' } = request
    if (kind === 'resource') return resource(request, body)
    if (kind === 'revoke') return oauth.revoke({ method, url, headers, body })
    if (kind === 'login') return loginEndpoint({ method, body }, logIn)
    if (isOAuth) return oauth.token({ method, url, headers, body }, receivedAt())
    return answerTokenCall({ kind, method, contentType: headers['content-type'], body }, receivedAt())
  }

  function logIn(subject?: string): SimulatedLogin {
    const now = serviceNow()
    return loginOf(ledger.issueTokens(now, newFamily({ isLogin: true })), subject, now, baseUrl)
  }

  function resource(request: IncomingMessage, body: string): Reply {
    const { method = '', url = '', headers } = request
    const challenge = challengeTo({ method, url, headers }, ledger, proofs, serviceNow())
    if (challenge !== undefined)
      return errorReply(401, 'A valid access token is required.', undefined, { 'WWW-Authenticate': challenge })
    const { authorization, ...shown } = headers
    const echo = JSON.stringify({ method, path: url, headers: shown, body })
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body: echo }
  }

  const headers = () => ({ Date: new Date(serviceNow()).toUTCString(), ...proofs.headers })
  const serving = { latencyMs: settings.latencyMs, faults, log, headers, answerTo }
  // Idle connections stay open: closing one while a client sends on it would be an unintended fault.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => void serve(serving, request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(settings.port, '127.0.0.1', resolve)
  })

  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    baseUrl,
    tokenEndpoint: baseUrl + OAUTH_PATHS.tokenEndpoint,
    revocationEndpoint: baseUrl + OAUTH_PATHS.revocationEndpoint,
    loginEndpoint: baseUrl + OAUTH_PATHS.loginEndpoint,
    client,
    login,
    log,
    count: (kind) => log.filter((served) => served.kind === kind).length,
    failNext: (kind, fault, times = 1) => faults.add(kind, fault, times),
    logIn: (subject) => Promise.resolve(logIn(subject)),
    revokeAccessTokens: () => ledger.revokeAccess(),
    stealRefreshToken: () =>
      new Promise((resolve) => {
        const current = ledger.currentRefresh(serviceNow())
        if (current === undefined)
          throw new Error(
            'No refresh token to steal: none was issued, or all have expired, or were superseded or revoked',
          )
        ledger.rotate(current, serviceNow())
        resolve()
      }),
    close: () =>
      new Promise((resolve) => {
        // The callback of a second close gets an error, because the server is not running. That is no failure.
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Adds microseconds to equal instants, because two responses with the same `meta.time` would look like a replay. */
function distinctInstants(now: () => number): () => number {
  let previous = NaN
  let micros = 0
  return () => {
    const instant = now()
    micros = instant === previous ? micros + 1 : 0
    previous = instant
    return instant + micros / 1000
  }
}

function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
