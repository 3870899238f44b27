import {
  type Client,
  clientCredentials,
  createTokenManager,
  isTokenError,
  type Login,
  loginPassword,
  type TokenError,
  type TokenErrorCode,
  type TokenGrant,
  type TokenSource,
} from '../index.ts'
import { apiCall } from './api-call.ts'
import { clockOffset, clockProblem } from './clock-offset.ts'
import type { Findings } from './findings.ts'
import { isPage, protocolOf, signatureForm } from './protocol.ts'
import { recordingAdapter, type Seen } from './recorder.ts'
import { throttlingHeaders } from './throttling.ts'
import type { Proxy } from '../wire/proxy.ts'

export interface Order {
  readonly baseUrl: string
  readonly api?: string | undefined
  readonly allowInsecureHttp: boolean
  readonly account: Client | Login
}

/**
 * Makes one obtain, one refresh if there is a refresh token, and one call of the API if `api` is given.
 *
 * @throws {TypeError} naming the option that cannot be used, before any call.
 */
export async function examine({ baseUrl, api, allowInsecureHttp, account }: Order): Promise<Findings> {
  const seen: Seen[] = []
  const grants: TokenGrant[] = []
  const findings: Findings = { baseUrl: '', throttling: {}, oddities: [], problems: [] }
  const adapter = recordingAdapter(seen, (proxy) => (findings.proxy ??= proxy))
  const service = { baseUrl, allowInsecureHttp, transport: { adapter } }
  const source =
    'login' in account ? loginPassword({ ...service, ...account }) : clientCredentials({ ...service, ...account })
  const tokens = createTokenManager({
    source: keeping(source, grants),
    retry: { maxAttempts: 1 },
    renewal: { keepWarm: 'never' },
  })
  const callApi = api === undefined ? undefined : apiCall(api, tokens, allowInsecureHttp)
  const { origin, pathname } = new URL(baseUrl)
  findings.baseUrl = origin + pathname
  tokens.on('anomaly', ({ message }) => findings.oddities.push(message))
  try {
    if (await step('obtain', () => tokens.getAccessToken(), findings, seen)) {
      if (grants[0]?.refreshToken !== undefined) await step('refresh', () => tokens.renew(), findings, seen)
      await callApi?.(findings)
    }
  } finally {
    await tokens.close()
  }
  readGrants(findings, grants)
  for (const answer of seen) readAnswer(findings, answer)
  const clock = findings.clock && clockProblem(findings.clock)
  if (clock) findings.problems.push(clock)
  const [first] = seen
  if (first && 'login' in account && first.status === 200) findings.signature = signatureForm(first, account)
  return findings
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
async function step(
  name: 'obtain' | 'refresh',
  act: () => Promise<unknown>,
  findings: Findings,
  seen: Seen[],
): Promise<boolean> {
  const startedAt = performance.now()
  const before = seen.length
  let isDone = true
  try {
    await act()
  } catch (error) {
    if (!isTokenError(error)) throw error
    isDone = false
    const advice = adviceOn(error, seen[before], findings.proxy)
    findings.problems.push({ step: name, code: error.code, message: error.message, advice })
  }
  const answer = seen[before]
  if (answer) findings[name] = { status: answer.status, durationMs: Math.round(performance.now() - startedAt) }
  return isDone
}

function adviceOn(
  { code, message, retryAfterMs }: TokenError,
  answer: Seen | undefined,
  proxy: Proxy | undefined,
): string[] {
  const advice: string[] = []
  if (answer && isPage(answer))
    advice.push(
      'The answer is a web page. The address may belong to a web site, or a proxy or a login page answers instead.',
    )
  if (answer && protocolOf(answer) === 'oauth2')
    return ['The service speaks OAuth 2.0: use oauth2({ tokenEndpoint, … }) of axios-evergreen/oauth2.']
  if (code === 'ERR_THROTTLED') {
    const pause = retryAfterMs === undefined ? 'a minute' : `${Math.ceil(retryAfterMs / 1_000)} s`
    advice.push(`Wait ${pause}, and do not run the doctor in a loop: it makes up to two token calls.`)
  }
  // A host with a wrong certificate has answered, and the message says what to do.
  if (
    code === 'ERR_TOKEN_SERVICE_UNAVAILABLE' &&
    !/the certificate is for another host|dates of the certificate/.test(message)
  )
    advice.push(
      answer
        ? 'The service at this address fails: try again later.'
        : proxy
          ? `The call went to the proxy that ${proxy.setBy} names, and not to the service.`
          : message.includes('no complete answer')
            ? 'Nothing answered in time: the service is overloaded, or a firewall swallows the call. Check the host and the port, and try again later.'
            : 'Nothing answered. Check the host, the port, and the way to them: firewall, VPN. No HTTPS_PROXY, HTTP_PROXY or ALL_PROXY was used.',
    )
  const known = ADVICE[code]
  if (known !== undefined) advice.push(known)
  return advice
}

const ADVICE: Readonly<Partial<Record<TokenErrorCode, string>>> = {
  ERR_CREDENTIALS_REJECTED:
    'Compare the environment variables with your credentials. They may hold a line break, or another account. If they are right, the path of the base URL may belong to another service.',
  ERR_SIGNATURE:
    'Check the password. If it is right, a proxy changes the answers, or the service signs in another way: see docs/token-service.md.',
  ERR_REFRESH_REJECTED:
    'The service refuses a refresh token that it has just issued. Run the doctor once more. If it repeats, send this report to the operator of the service.',
}

function readGrants(findings: Findings, [obtained, refreshed]: TokenGrant[]): void {
  if (!obtained) return
  findings.accessLifetimeMs = obtained.accessLifetimeMs
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
