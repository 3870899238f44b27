import {
  type Client,
  clientCredentials,
  createTokenManager,
  isTokenError,
  type Login,
  loginPassword,
  type TokenError,
  type TokenGrant,
  type TokenManager,
  type TokenSource,
} from '../../src/index.ts'
import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { adviceOn } from './advice.ts'
import { apiCall } from './api-call.ts'
import { ClientProof } from './client-proof.ts'
import { clockOffset, clockProblem } from './clock-offset.ts'
import { duration } from './duration.ts'
import type { Findings, Problem } from './findings.ts'
import { type OAuthServer, oauthSource, serverFindings } from './oauth-server.ts'
import { protocolOf, signatureForm } from './protocol.ts'
import { type Recording, recordingAdapter, type Seen } from './recorder.ts'
import { storeOfFile } from './sqlite-file.ts'
import { storeProblem } from './store-check.ts'
import { throttlingHeaders } from './throttling.ts'

/** A manager uses a token for a day at most. */
const DAY_MS = 86_400_000

/** The payment service. */
export interface PaymentService {
  readonly baseUrl: string
  readonly account: Client | Login
}

/** What the doctor examines. */
export interface Order {
  readonly service: PaymentService | OAuthServer
  readonly api?: string | undefined
  readonly allowInsecureHttp: boolean
}

/**
 * Obtains a token, refreshes it if the response has a refresh token, and sends one request to the API if `api` is given. A stored login is used as it is, and
 * refreshed only if necessary.
 *
 * @throws {TypeError} naming the invalid option, before any request.
 */
export async function examine(order: Order): Promise<Findings> {
  const examined = examinedBy(order)
  const callApi = order.api === undefined ? undefined : apiCall(order.api, examined.tokens, order.allowInsecureHttp)
  try {
    if (await obtained(examined)) {
      if (!examined.isStored && examined.grants[0]?.refreshToken !== undefined)
        await taken('refresh', () => examined.tokens.renew(), examined)
      await callApi?.(examined.findings)
    }
    examined.findings.accessLifetimeMs = livesFor(examined.tokens.status().accessExpiresAt)
  } finally {
    await examined.tokens.close()
  }
  return concluded(examined, order.service)
}

/** The state of one examination. */
interface Examined {
  readonly tokens: TokenManager
  readonly proof: ClientProof
  readonly seen: Recording
  readonly grants: readonly TokenGrant[]
  readonly findings: Findings
  readonly isOAuth: boolean
  /** The login of a user, in a store. */
  readonly isStored: boolean
}

function examinedBy({ service, allowInsecureHttp }: Order): Examined {
  const seen: Recording = { calls: [], metadata: [] }
  const grants: TokenGrant[] = []
  const findings: Findings = { ...addressOf(service), throttling: {}, oddities: [], problems: [] }
  const adapter = recordingAdapter(seen, (proxy) => (findings.proxy ??= proxy))
  const proof = new ClientProof(seen.metadata)
  const calls = { allowInsecureHttp, transport: { adapter } }
  const isOAuth = !('account' in service)
  const source = isOAuth ? oauthSource(service, proof, calls) : paymentSource(service, calls)
  const store = isOAuth && service.file !== undefined ? storeOfFile('--file', service.file) : undefined
  const tokens = createTokenManager({
    source: keeping(source, grants),
    ...(store && { store }),
    retry: { maxAttempts: 1 },
    renewal: { keepWarm: 'never' },
  })
  tokens.on('anomaly', ({ kind, message }) => kind !== 'tokens-unencrypted' && findings.oddities.push(message))
  // If the token cannot be stored, the call succeeds nevertheless.
  tokens.on('storeUnavailable', ({ message }) => findings.problems.push(storeProblem(message)))
  return { tokens, proof, seen, grants, findings, isOAuth, isStored: store !== undefined }
}

/** @returns Whether there is a token, after a second attempt with another authentication method if necessary. */
async function obtained(examined: Examined): Promise<boolean> {
  const { tokens, proof, findings, isStored } = examined
  const obtain = () => taken('obtain', () => tokens.getAccessToken(), examined)
  if (await obtain()) return true
  // A reset would log the user out.
  if (isStored || !proof.mayTryAgain(findings.problems[0]?.code)) return false
  await tokens.reset()
  findings.problems.length = 0
  return obtain()
}

/** Adds the findings from grants and responses. */
function concluded({ proof, seen, grants, findings, isOAuth }: Examined, service: Order['service']): Findings {
  readGrants(findings, grants)
  for (const response of seen.calls) readResponse(findings, response)
  if (isOAuth) Object.assign(findings, serverFindings(seen, findings.issuer))
  // If the client was rejected, the last method is not reported: it would look like a recommendation.
  if (isOAuth && proof.used && findings.problems[0]?.code !== 'ERR_CREDENTIALS_REJECTED') {
    findings.clientAuthentication = proof.used
    if (proof.used === 'post') findings.oddities.push(NEEDS_POST)
  }
  const clock = findings.clock && clockProblem(findings.clock, findings.apiAheadMs)
  if (clock) findings.problems.push(clock)
  const [first] = seen.calls
  // A web page, or another protocol, has no signature.
  if (first && 'account' in service && 'login' in service.account && protocolOf(first) === 'variant-b')
    findings.signature = signatureForm(first, service.account)
  return findings
}

const NEEDS_POST =
  "By default, oauth2() sends the secret in the header, which this server does not support: pass clientAuthentication: 'post' to oauth2()"

/** The address as the user typed it, without its query: an issuer must equal the one in its metadata. */
function addressOf(service: PaymentService | OAuthServer): Pick<Findings, 'baseUrl' | 'issuer' | 'tokenEndpoint'> {
  const shown = (text: string) => text.replace(/[?#].*/s, '')
  if ('account' in service) return { baseUrl: shown(service.baseUrl) }
  const { issuer, tokenEndpoint } = service
  return {
    ...(issuer !== undefined && { issuer: shown(issuer) }),
    ...(tokenEndpoint !== undefined && { tokenEndpoint: shown(tokenEndpoint) }),
  }
}

type Calls = Pick<OAuth2Options, 'allowInsecureHttp' | 'transport'>

function paymentSource({ baseUrl, account }: PaymentService, calls: Calls): TokenSource {
  const service = { baseUrl, ...calls }
  return 'login' in account ? loginPassword({ ...service, ...account }) : clientCredentials({ ...service, ...account })
}

function livesFor(expiresAt: number | undefined): number | undefined {
  return expiresAt === undefined ? undefined : Math.max(0, expiresAt - Date.now())
}

/** @returns The same source, which also adds each grant to `grants`. */
function keeping(source: TokenSource, grants: TokenGrant[]): TokenSource {
  const kept = async (exchange: Promise<TokenGrant>) => {
    const grant = await exchange
    grants.push(grant)
    return grant
  }
  const refresh = source.refresh?.bind(source)
  return {
    id: source.id,
    ...(source.origin !== undefined && { origin: source.origin }),
    obtain: (context) => kept(source.obtain(context)),
    ...(refresh && { refresh: (token, context) => kept(refresh(token, context)) }),
  }
}

/** @returns Whether it succeeded. */
async function taken(name: 'obtain' | 'refresh', act: () => Promise<unknown>, examined: Examined): Promise<boolean> {
  const { findings, seen } = examined
  const startedAt = performance.now()
  const before = seen.calls.length
  let isDone = true
  try {
    await act()
  } catch (error) {
    if (!isTokenError(error)) throw error
    isDone = false
    // The listener of `storeUnavailable` has added this problem, with its reason.
    if (error.code === 'ERR_STORE_UNAVAILABLE' && findings.problems.some(({ step }) => step === 'store')) return false
    findings.problems.push(problemOf(name, error, seen.calls[before], examined))
  }
  const response = seen.calls[before]
  if (response) findings[name] = { status: response.status, durationMs: Math.round(performance.now() - startedAt) }
  return isDone
}

/** @param call The response to the token request, if there was one. */
function problemOf(
  step: 'obtain' | 'refresh',
  error: TokenError,
  call: Seen | undefined,
  { findings: { proxy }, seen, isOAuth }: Examined,
): Problem {
  const { code, message, status } = error
  const isUnavailable = code === 'ERR_TOKEN_SERVICE_UNAVAILABLE'
  // Without a response to a token request, the status is that of the metadata.
  const isReachable = isUnavailable && !call && status !== undefined && status < 500
  const response = call ?? (isUnavailable && status === undefined ? undefined : seen.metadata.at(-1))
  const advice = adviceOn(error, { response, proxy, isOAuth, isReachable })
  return { step, code, message, ...(isReachable && { isReachable }), advice }
}

function readGrants(findings: Findings, [first, second]: readonly TokenGrant[]): void {
  if (!first) return
  const { accessLifetimeMs } = first
  findings.accessLifetimeMs = accessLifetimeMs
  if (accessLifetimeMs > DAY_MS)
    findings.oddities.push(
      `The access token lives ${duration(accessLifetimeMs)}, of which the manager uses 24 h. Does the service send milliseconds, and mean ${duration(accessLifetimeMs / 1_000)}?`,
    )
  if (first.refreshToken !== undefined) findings.hasRefreshToken = true
  if (first.refreshLifetimeMs !== undefined) findings.refreshLifetimeMs = first.refreshLifetimeMs
  if (!second) return
  const isSame = second.refreshToken === first.refreshToken
  findings.rotation = second.refreshToken === undefined ? 'no-token' : isSame ? 'same-token' : 'new-token'
}

function readResponse(findings: Findings, response: Seen): void {
  const speaks = protocolOf(response)
  if (speaks) findings.speaks ??= speaks
  const clock = clockOffset(response)
  if (clock) findings.clock ??= clock
  Object.assign(findings.throttling, throttlingHeaders(response))
}
