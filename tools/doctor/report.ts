import { duration } from './duration.ts'
import type { Findings, Problem, StoreFindings } from './findings.ts'

/** Documented in docs/doctor.md. */
export const EXIT = { well: 0, broken: 1, usage: 2, loginRequired: 12 } as const

export const EXIT_OF: Record<Problem['code'], number> = {
  ERR_TOKEN_SERVICE_UNAVAILABLE: 3,
  ERR_CREDENTIALS_REJECTED: 4,
  ERR_THROTTLED: 5,
  ERR_TOKEN_REQUEST: 6,
  ERR_TOKEN_RESPONSE: 6,
  ERR_SIGNATURE: 7,
  ERR_REFRESH_REJECTED: 8,
  ERR_SUSPICIOUS_REFRESH_TOKEN: 8,
  API_REFUSES_TOKEN: 9,
  API_UNCLEAR: 10,
  CLOCK_OFF: 11,
  ERR_STORE_UNAVAILABLE: 3,
  ERR_LOGIN_REQUIRED: EXIT.loginRequired,
  // These cannot happen here: the manager is not closed, and the source is one of this package.
  ERR_WAIT_TIMEOUT: 3,
  ERR_REPLACED_TOO_SOON: EXIT.broken,
  ERR_CLOSED: EXIT.broken,
  ERR_LOGIN_REPLACED: EXIT.broken,
  ERR_TOKEN_SOURCE: EXIT.broken,
}

/** The first problem determines the exit code. */
export function exitCodeOf({ problems: [first], speaks, baseUrl }: Findings): number {
  if (!first) return EXIT.well
  // An OAuth 2.0 server finds no credentials in an obtain of the payment service, so it does not judge them.
  const isOther = baseUrl !== undefined && speaks === 'oauth2' && first.step === 'obtain'
  return isOther || first.isReachable ? EXIT_OF.ERR_TOKEN_REQUEST : EXIT_OF[first.code]
}

const SPOKEN = {
  'variant-a': 'Variant A (client id and secret)',
  'variant-b': 'Variant B (login and password; not supported by the service since 1 December 2025)',
  oauth2: 'OAuth 2.0',
}
const CLIENT = {
  basic: "secret in the header (clientAuthentication: 'basic', the default)",
  post: "secret in the body (clientAuthentication: 'post')",
  none: 'a public client, without a secret',
}
const DPOP = {
  offered: 'the server can bind tokens to a key: dpop of oauth2()',
  nonce: 'the server sends a nonce for proofs',
}
const ROTATION = {
  'new-token': 'each refresh returns a new one',
  'same-token': 'a refresh returns the same one again',
  'no-token': 'a refresh returns no new one',
}

/** The findings as text, most of them in one line each. */
export function report(findings: Findings): string {
  const { problems, oddities } = findings
  const lines = [...rows(findings)].map(([name, value]) => `${name.padEnd(16)}${value}`)
  for (const oddity of oddities) lines.push(`${'odd'.padEnd(16)}${oddity}`)
  for (const { step, code, message, advice } of problems)
    lines.push('', `PROBLEM (${step}) ${code}`, ...[message, ...advice].map((text) => `  ${text}`))
  lines.push('', lastLine(findings))
  return `${lines.join('\n')}\n`
}

function lastLine(findings: Findings): string {
  if (findings.problems.length > 0) return `Exit code ${exitCodeOf(findings)}.`
  return findings.oddities.length === 0 ? 'All is well.' : 'It works, with the oddities listed above.'
}

function* rows(findings: Findings): Generator<[string, string]> {
  const { speaks, obtain, refresh, signature, clock, throttling, api, baseUrl, issuer, tokenEndpoint } = findings
  if (baseUrl !== undefined) yield ['token service', baseUrl]
  if (issuer !== undefined) yield ['issuer', issuer]
  if (findings.metadataIssuer !== undefined) yield ['metadata', `of the issuer ${findings.metadataIssuer}`]
  if (tokenEndpoint !== undefined) yield ['token endpoint', tokenEndpoint]
  if (findings.proxy !== undefined) yield ['proxy', `${findings.proxy.address}, from ${findings.proxy.setBy}`]
  const isOther = speaks !== undefined && (speaks === 'oauth2') === (baseUrl !== undefined)
  if (speaks) yield ['speaks', `${SPOKEN[speaks]}${isOther ? ', not the protocol of the options that were given' : ''}`]
  if (findings.clientAuthentication) yield ['client', CLIENT[findings.clientAuthentication]]
  if (obtain) yield ['obtain', `responded with ${obtain.status} in ${obtain.durationMs} ms`]
  if (findings.accessLifetimeMs !== undefined) yield ['access token', `lives ${duration(findings.accessLifetimeMs)}`]
  if (speaks === 'variant-a') yield ['refresh token', 'none: each renewal is an obtain']
  if (speaks === 'variant-b' || findings.hasRefreshToken) yield ['refresh token', refreshToken(findings)]
  else if (speaks === 'oauth2' && baseUrl === undefined) yield ['refresh token', 'none in the response']
  if (findings.dpop) yield ['DPoP', DPOP[findings.dpop]]
  if (refresh) yield ['refresh', `responded with ${refresh.status} in ${refresh.durationMs} ms`]
  if (signature)
    yield [
      'signature',
      typeof signature === 'string'
        ? `${signature}: no refresh token of this service can be trusted`
        : `right: HMAC-SHA256, key ${signature.key}, ${signature.encoding}`,
    ]
  if (clock) {
    const [ahead, off] = [duration(Math.abs(clock.aheadMs)), duration(clock.uncertaintyMs)]
    yield ['clock', `the service is ${ahead} ${clock.aheadMs < 0 ? 'behind' : 'ahead'} (± ${off}, by ${clock.by})`]
  }
  if (obtain) {
    const limits = Object.entries(throttling).map(([name, value]) => `${name}: ${value}`)
    yield ['throttling', limits.length > 0 ? limits.join(', ') : 'no header states a limit']
  }
  if (findings.store) yield ['store', storeRow(findings.store)]
  if (api) {
    const taken = {
      true: 'accepts the token',
      false: 'rejects the token',
      undefined: 'not clear whether it accepts the token',
    }
    const asks = api.challenge === undefined ? '' : `; ${api.challenge}`
    yield [
      'API',
      `${api.url} responded with ${api.status}: ${taken[String(api.takesToken) as keyof typeof taken]}${asks}`,
    ]
  }
}

function storeRow({ kind, stepMs, isShared }: StoreFindings): string {
  if (stepMs === undefined) return `${kind}: cannot be used`
  return `${kind}: reads and writes in ${stepMs} ms each; ${isShared ? 'a second manager found the token' : 'a second manager did not find the token'}`
}

function refreshToken({ refreshLifetimeMs, rotation }: Findings): string {
  const lives = refreshLifetimeMs === undefined ? 'of unknown lifetime' : `lives ${duration(refreshLifetimeMs)}`
  return rotation === undefined ? lives : `${lives}; ${ROTATION[rotation]}`
}
