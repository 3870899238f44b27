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
import { type Answer, refusal } from './token-document.ts'
import { throttleOf, tokenEndpoint } from './token-endpoint.ts'
import { newFamily, TokenLedger } from './token-ledger.ts'

export interface SimulatedService {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly baseUrl: string
  /**
   * An OAuth 2.0 token endpoint (RFC 6749) of the same service, for `client`: client credentials, and refresh tokens that
   * rotate. The second use of a refresh token is answered 400 `invalid_grant`, and revokes all tokens that came of its pair. The
   * client authenticates by basic or in the body. Tokens that are asked for with a proof of possession (DPoP, RFC 9449) are bound to its key:
   * they need a proof in each request, and a refresh token of the same key. An answer to client credentials has a refresh token too: RFC 6749 advises
   * against that, but some servers do it. What a login brought may also be refreshed by a public client: any `client_id`, no secret.
   */
  readonly tokenEndpoint: string
  /**
   * Where a client takes back a token (RFC 7009), with the same authentication as at `tokenEndpoint`. A refresh token takes with it
   * all tokens that came of its pair; an access token goes alone. The throttle does not count this.
   */
  readonly revocationEndpoint: string
  /**
   * A login for pages without a server of their own: a POST with a form, in which `subject` may say who logs in, answers as
   * `logIn(subject).answer`. Nobody asks for a password. The throttle does not count this.
   */
  readonly loginEndpoint: string
  /** The credentials that Variant A and `tokenEndpoint` accept; random for each service. */
  readonly client: { clientId: string; clientSecret: string }
  /** The credentials Variant B accepts; random for each service. */
  readonly login: { login: string; password: string }
  /**
   * Every request served, oldest first; it grows as requests are answered, dropped or left hanging. `at` is that moment,
   * epoch ms of this machine; `path` is as received, query included; `status` is 0 where no answer was sent. A request
   * that never arrived in full is not in it.
   */
  readonly log: readonly { at: number; kind: RequestKind; method: string; path: string; status: number }[]
  /** How many requests of `kind` the log holds. */
  count(kind: RequestKind): number
  /**
   * The next `times` (default 1) requests of `kind` meet `fault`. Requests meet the faults of one kind in the order given. The
   * service applies a fault before it asks the throttle: with a fault that keeps it from acting, the throttle counts no call.
   *
   * @throws {TypeError | RangeError} naming the argument and its value.
   */
  failNext(kind: RequestKind, fault: SimulatedFault, times?: number): void
  /**
   * A person logs in and gets a first pair, for `adopt()` of a token manager whose source refreshes at `tokenEndpoint`. Neither
   * the log nor the throttle counts this.
   *
   * @param subject Who logs in. It comes back as `subject`, and as `sub` of the ID token in `answer`.
   */
  logIn(subject?: string): Promise<SimulatedLogin>
  /** All access tokens issued so far are refused from now on; refresh tokens stay good. */
  revokeAccessTokens(): void
  /**
   * A thief uses the current refresh token (the last one issued that is still good): it is superseded, and the thief holds
   * the next pair. Neither the log nor the throttle counts this. Rejects with an Error if there is no such token.
   */
  stealRefreshToken(): Promise<void>
  /** Ends every connection, hanging ones included; resolves once the port is free. May be called again. */
  close(): Promise<void>
}

/**
 * A real HTTP server on 127.0.0.1 that behaves as the specification says, both variants, for tests and demos. Like any
 * server it keeps the process alive until `close()`.
 *
 * Every path but `token/` and `token/refresh/` (with or without the slash) and those of the three `…Endpoint` members is a protected resource. With
 * a good `Authorization: Bearer <access>` it answers 200 and echoes the request as JSON, `{ method, path, headers, body }`: `path`
 * with the query, `body` as text, `headers` without `authorization`, so that no token is echoed. Otherwise it answers 401, with
 * `WWW-Authenticate: Bearer error="invalid_token"` if a token was presented (RFC 6750, section 3.1).
 *
 * Pages of any origin may call it (CORS). Preflights meet no fault, and are not in the log.
 *
 * All answers carry a `Date` by the service's clock, which also decides what has expired. A body over 1 MiB gets 413
 * before faults, throttle and credentials are looked at.
 *
 * @example
 * ```ts
 * import { clientCredentials, createTokenManager } from 'axios-evergreen'
 * import { startTokenService } from 'axios-evergreen/testing'
 *
 * const service = await startTokenService({ accessLifetimeMs: 60_000 })
 * const tokens = createTokenManager({ source: clientCredentials({ baseUrl: service.baseUrl, ...service.client }) })
 * service.failNext('obtain', { status: 503 })
 * await tokens.getAccessToken() // the second call brings it
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

  function answerTo(request: IncomingMessage, { kind, isOAuth }: Route, body: string): Answer {
    const { headers, method = '', url = '' } = request
    if (kind === 'resource') return resource(request, body)
    if (kind === 'revoke') return oauth.revoke({ method, url, headers, body })
    if (kind === 'login') return loginEndpoint({ method, body }, logIn)
    if (isOAuth) return oauth.token({ method, url, headers, body }, receivedAt())
    return answerTokenCall({ kind, method, contentType: headers['content-type'], body }, receivedAt())
  }

  function logIn(subject?: string): SimulatedLogin {
    const now = serviceNow()
    return loginOf(ledger.issuePair(now, newFamily({ isLogin: true })), subject, now, baseUrl)
  }

  function resource(request: IncomingMessage, body: string): Answer {
    const { method = '', url = '', headers } = request
    const challenge = challengeTo({ method, url, headers }, ledger, proofs, serviceNow())
    if (challenge !== undefined)
      return refusal(401, 'A good access token is needed.', undefined, { 'WWW-Authenticate': challenge })
    const { authorization, ...shown } = headers
    const echo = JSON.stringify({ method, path: url, headers: shown, body })
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body: echo }
  }

  const headers = () => ({ Date: new Date(serviceNow()).toUTCString(), ...proofs.headers })
  const serving = { latencyMs: settings.latencyMs, faults, log, headers, answerTo }
  // Idle connections stay open: if the server closed one while a client sends on it, that would be a fault nobody asked for.
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
          throw new Error('No refresh token to steal: none was issued, or all have expired or were superseded')
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

/** Adds microseconds to equal instants: two answers with the same `meta.time` would look like a replay. */
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
