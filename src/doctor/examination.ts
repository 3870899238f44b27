import {
  type Client,
  clientCredentials,
  createTokenManager,
  isTokenError,
  type Login,
  loginPassword,
  type TokenGrant,
  type TokenSource,
} from '../index.ts'
import type { OAuth2Options } from '../oauth2/index.ts'
import { sqliteStore } from '../sqlite/index.ts'
import { adviceOn } from './advice.ts'
import { apiCall } from './api-call.ts'
import { ClientProof } from './client-proof.ts'
import { clockOffset, clockProblem } from './clock-offset.ts'
import type { Findings } from './findings.ts'
import { type OAuthServer, oauthSource, serverFindings } from './oauth-server.ts'
import { protocolOf, signatureForm } from './protocol.ts'
import { type Answers, recordingAdapter, type Seen } from './recorder.ts'
import { throttlingHeaders } from './throttling.ts'

/** The payment service. */
export interface PaymentService {
  readonly baseUrl: string
  readonly account: Client | Login
}

export interface Order {
  readonly service: PaymentService | OAuthServer
  readonly api?: string | undefined
  readonly allowInsecureHttp: boolean
}

/**
 * Makes one obtain, one refresh if there is a refresh token, and one call of the API if `api` is given. Of a stored login it uses the tokens.
 *
 * @throws {TypeError} naming the option that cannot be used, before any call.
 */
export async function examine({ service, api, allowInsecureHttp }: Order): Promise<Findings> {
  const seen: Answers = { calls: [], metadata: [] }
  const grants: TokenGrant[] = []
  const findings: Findings = { ...addressOf(service), throttling: {}, oddities: [], problems: [] }
  const adapter = recordingAdapter(seen, (proxy) => (findings.proxy ??= proxy))
  const proof = new ClientProof(seen.metadata)
  const calls = { allowInsecureHttp, transport: { adapter } }
  const source = 'account' in service ? paymentSource(service, calls) : oauthSource(service, proof, calls)
  const store = 'file' in service && service.file !== undefined ? sqliteStore({ file: service.file }) : undefined
  const tokens = createTokenManager({
    source: keeping(source, grants),
    ...(store && { store }),
    retry: { maxAttempts: 1 },
    renewal: { keepWarm: 'never' },
  })
  const callApi = api === undefined ? undefined : apiCall(api, tokens, allowInsecureHttp)
  tokens.on('anomaly', ({ kind, message }) => kind !== 'stored-tokens-readable' && findings.oddities.push(message))
  const isOAuth = !('account' in service)
  const step = (name: 'obtain' | 'refresh', act: () => Promise<unknown>) =>
    taken({ name, act, findings, seen, isOAuth })
  try {
    let isDone = await step('obtain', () => tokens.getAccessToken())
    // Not with a store: a reset would log the person out.
    if (!isDone && !store && proof.mayTryAgain(findings.problems[0]?.code)) {
      await tokens.reset()
      findings.problems.length = 0
      isDone = await step('obtain', () => tokens.getAccessToken())
    }
    if (isDone) {
      if (!store && grants[0]?.refreshToken !== undefined) await step('refresh', () => tokens.renew())
      await callApi?.(findings)
    }
    findings.accessLifetimeMs = livesFor(tokens.status().accessExpiresAt)
  } finally {
    await tokens.close()
  }
  readGrants(findings, grants)
  for (const answer of seen.calls) readAnswer(findings, answer)
  if (isOAuth) Object.assign(findings, { clientAuthentication: proof.used, ...serverFindings(seen) })
  const clock = findings.clock && clockProblem(findings.clock)
  if (clock) findings.problems.push(clock)
  const [first] = seen.calls
  // A web page, or another protocol, says nothing of signatures.
  if (first && 'account' in service && 'login' in service.account && protocolOf(first) === 'variant-b')
    findings.signature = signatureForm(first, service.account)
  return findings
}

/** The address without its query. */
function addressOf(service: PaymentService | OAuthServer): Pick<Findings, 'baseUrl' | 'issuer' | 'tokenEndpoint'> {
  const shown = (text: string) => {
    const { origin, pathname } = new URL(text)
    return origin + pathname
  }
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

interface Step {
  readonly name: 'obtain' | 'refresh'
  readonly act: () => Promise<unknown>
  readonly findings: Findings
  readonly seen: Answers
  readonly isOAuth: boolean
}

/** @returns Whether it succeeded. */
async function taken({ name, act, findings, seen, isOAuth }: Step): Promise<boolean> {
  const startedAt = performance.now()
  const before = seen.calls.length
  let isDone = true
  try {
    await act()
  } catch (error) {
    if (!isTokenError(error)) throw error
    isDone = false
    const metadata = seen.metadata.at(-1)
    const answer = seen.calls[before] ?? metadata
    // What answers without metadata is not away.
    const isElse = !seen.calls[before] && metadata !== undefined && metadata.status < 500
    const code = isElse && error.code === 'ERR_TOKEN_SERVICE_UNAVAILABLE' ? 'ERR_TOKEN_REQUEST' : error.code
    const advice = adviceOn(error, code, { answer, proxy: findings.proxy, isOAuth })
    findings.problems.push({ step: name, code, message: error.message, advice })
  }
  const answer = seen.calls[before]
  if (answer) findings[name] = { status: answer.status, durationMs: Math.round(performance.now() - startedAt) }
  return isDone
}

function readGrants(findings: Findings, [obtained, refreshed]: TokenGrant[]): void {
  if (!obtained) return
  findings.accessLifetimeMs = obtained.accessLifetimeMs
  if (obtained.refreshToken !== undefined) findings.hasRefreshToken = true
  if (obtained.refreshLifetimeMs !== undefined) findings.refreshLifetimeMs = obtained.refreshLifetimeMs
  if (!refreshed) return
  const isSame = refreshed.refreshToken === obtained.refreshToken
  findings.rotation = refreshed.refreshToken === undefined ? 'no-token' : isSame ? 'same-token' : 'new-token'
}

function readAnswer(findings: Findings, answer: Seen): void {
  const speaks = protocolOf(answer)
  if (speaks) findings.speaks ??= speaks
  const clock = clockOffset(answer)
  if (clock) findings.clock ??= clock
  Object.assign(findings.throttling, throttlingHeaders(answer))
}
