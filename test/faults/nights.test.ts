import { Agent, createServer } from 'node:https'
import { describe, it } from '@jest/globals'
import { loginPassword } from '../../src/index.ts'
import { startTokenService } from '../../tools/testing/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { selfSigned } from '../service/certificate.ts'
import { listening, serve } from '../service/world.ts'
import { outcome } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'
import {
  answer,
  ask,
  clientOf,
  endpoint,
  expectNamed,
  grant,
  type Lines,
  type Night,
  onCall,
  PAGE,
  type Reply,
  request,
} from './support/night.ts'

/** The lines of a first token request to which the service responds with `replies`. */
const called =
  (...replies: (Reply | (() => Reply))[]) =>
  async (): Promise<Lines> => {
    const { origin } = await endpoint(...replies)
    const world = onCall({ source: clientOf(origin) })
    await ask(world)
    return world.lines
  }

/** The same, through a proxy that responds. */
const proxied =
  (...reply: Reply) =>
  async (): Promise<Lines> => {
    const proxy = await endpoint(reply)
    const { port } = new URL(proxy.origin)
    const transport = { proxy: { protocol: 'http', host: '127.0.0.1', port: Number(port) } }
    const world = onCall({ source: clientOf('http://id.example.com', { allowInsecureHttp: true, transport }) })
    await ask(world)
    return world.lines
  }

async function rotated() {
  const { origin } = await endpoint(grant, [401, { error: 'invalid_client' }])
  const world = onCall({ source: clientOf(origin) })
  await ask(world)
  // The service has ended the tokens of the old secret, too.
  await request(world.tokens, () => 401)
  return world.lines
}

async function clockOff() {
  const service = await startTokenService({ clockOffsetMs: 65 * 60_000 })
  const source = loginPassword({ baseUrl: service.baseUrl, ...service.login })
  const world = onCall({ source }, manualClock({ wallNow: Date.now() }))
  await ask(world)
  await service.close()
  return world.lines
}

async function expiredCertificate() {
  const { key, cert } = selfSigned('localhost', [-30, -1])
  const address = await listening(createServer({ key, cert }))
  const transport = { httpsAgent: new Agent({ ca: cert }) }
  const world = onCall({ source: clientOf(`https://localhost:${address.split(':')[1]}`, { transport }) })
  await ask(world)
  return world.lines
}

async function unknownHost() {
  const world = onCall({ source: clientOf('https://id.nowhere.invalid') })
  await ask(world)
  return world.lines
}

/** A thief has refreshed. */
async function stolen() {
  const { origin } = await endpoint(grant, [400, { error: 'invalid_grant' }], grant)
  const world = onCall({ source: clientOf(origin, { refreshTokens: 'single-use' }) })
  await ask(world)
  await world.clock.advance(1_800_000)
  await outcome(world.tokens.renew())
  await settle()
  return world.lines
}

async function stolenLogin() {
  const { origin } = await endpoint([400, { error: 'invalid_grant' }])
  const world = onCall({ source: clientOf(origin, { grant: 'login' }) })
  await world.tokens.adopt({
    accessToken: 'a',
    accessLifetimeMs: 60_000,
    refreshToken: 'r',
    refreshLifetimeMs: 3_600_000,
  })
  await world.clock.advance(61_000)
  await ask(world)
  return world.lines
}

/** Each response arrives after 20 s, and the manager waits for 10 s. */
async function slow() {
  const { origin } = await serve(() => void world.clock.advance(10_000))
  const world = onCall({ source: clientOf(origin), retry: { maxAttempts: 2 } })
  await ask(world)
  return world.lines
}

/** The process is suspended for a minute while its refresh is in flight. */
async function stalled() {
  let stoppedMs = 0
  const { origin } = await serve((_, response) => {
    stoppedMs += world.lines.length > 0 ? 60_000 : 0
    answer(response, grant())
  })
  const running = manualClock()
  const clock = {
    ...running,
    wallNow: () => running.wallNow() + stoppedMs,
    monotonicNow: () => running.monotonicNow() + stoppedMs,
  }
  const world = onCall({ source: clientOf(origin, { refreshTokens: 'single-use' }) }, clock)
  await ask(world)
  await outcome(world.tokens.renew())
  await settle()
  return world.lines
}

/** The tokens are valid, and the API requires others. */
async function audience() {
  const { origin } = await endpoint(grant)
  const world = onCall({ source: clientOf(origin) })
  await ask(world)
  await world.clock.advance(60_000)
  await request(world.tokens, () => 401)
  return world.lines
}

const PORTAL = { Location: 'https://portal.example.com/login' }
const HOUR = { 'Retry-After': '3600' }
const CHECK_PROXY =
  /through the proxy 127\.0\.0\.1:\d+ of transport\.proxy: check the proxy, or name the host in NO_PROXY/
const ASK_OPERATOR = /ask the operator of the service/
const shape = (body: object) => called([200, { access_token: 'a', token_type: 'Bearer', expires_in: 300, ...body }])

const NIGHTS: readonly Night[] = [
  {
    night: '1: the client secret was rotated',
    run: rotated,
    cause: /ERR_CREDENTIALS_REJECTED: .* responded with 401: invalid_client/,
    cure: /check clientId, clientSecret/,
  },
  {
    night: '2: the clock of this machine is 65 minutes behind',
    run: clockOff,
    cause: /clock-skew; meta\.time is 65 min ahead of this machine’s clock/,
    cure: /set this clock \(NTP\), or, if it is right, tell the operator of the service/,
  },
  {
    night: '3: DNS does not know the host',
    run: unknownHost,
    cause: /could not be reached \((ENOTFOUND|EAI_AGAIN)\): unknown host/,
    cure: /check the address, the proxy, and DNS/,
  },
  {
    night: '4: the certificate of the service has expired',
    run: expiredCertificate,
    cause: /\(CERT_HAS_EXPIRED\): the certificate is not valid now/,
    cure: /its owner must renew it/,
  },
  { night: '5: a proxy responds with 200 and a page', run: proxied(200, PAGE), cause: /it is HTML/, cure: CHECK_PROXY },
  {
    night: '5: a proxy responds with 403 and a page',
    run: proxied(403, PAGE),
    cause: /responded with 403 and a web page through the proxy /,
    cure: /ask whoever runs the proxy, or name the host in NO_PROXY/,
  },
  { night: '5: a proxy responds with 502', run: proxied(502, PAGE), cause: /responded with 502/, cure: CHECK_PROXY },
  {
    night: '5: a proxy responds with 407',
    run: proxied(407, PAGE),
    cause: /a proxy requires credentials/,
    cure: CHECK_PROXY,
  },
  {
    night: '5: a proxy redirects to a login page with 302',
    run: proxied(302, '', PORTAL),
    cause: /responded with 302: a redirect to another origin/,
    cure: CHECK_PROXY,
  },
  {
    night: '6: the service responds with 429 for an hour',
    run: called([429, { error: 'slow_down' }, HOUR]),
    cause: /ERR_THROTTLED: .* responded with 429: slow_down: too many token requests/,
    cure: /let all processes of the account share a store/,
  },
  {
    night: '6: a firewall responds with 429 and a page (F432)',
    run: called([429, PAGE, HOUR]),
    cause:
      /ERR_THROTTLED: .* responded with 429: a web page from something in front of the service, such as a firewall/,
    cure: /allow the requests of this machine/,
  },
  {
    night: '6: a proxy responds with 429 and a page (F432)',
    run: proxied(429, PAGE, HOUR),
    cause: /ERR_THROTTLED: .* responded with 429 and a web page through the proxy /,
    cure: /ask whoever runs the proxy/,
  },
  {
    night: '10: a refresh token was stolen',
    run: stolen,
    cause:
      /^error .*: suspicious: .* \(high: unexplained\): nothing on this side explains it, so an attacker may have used it/,
    cure: /Find the fingerprint in the log of the service, revoke the tokens, and change the credentials/,
  },
  {
    night: '10: the refresh token of a login was stolen',
    run: stolenLogin,
    cause: /revoked-or-used\): the user has logged out elsewhere, or an attacker has used it/,
    cure: /Find the fingerprint in the log of the service; the user has to log in again/,
  },
  {
    night: '11: the service takes 20 s',
    run: slow,
    cause: /got no complete response within 10000 ms/,
    cure: /if the service needs longer, raise exchangeTimeoutMs/,
  },
  {
    night: '12: the access token has another name',
    run: shape({ access_token: undefined, token: 'a' }),
    cause: /access_token must be a non-empty string/,
    cure: ASK_OPERATOR,
  },
  {
    night: '12: the access token is a number',
    run: shape({ access_token: 7 }),
    cause: /access_token must be a non-empty string/,
    cure: ASK_OPERATOR,
  },
  {
    night: '12: the lifetime is a word',
    run: shape({ expires_in: 'soon' }),
    cause: /expires_in must be a positive number of seconds/,
    cure: ASK_OPERATOR,
  },
  {
    night: '12: the token has another type',
    run: shape({ token_type: 'mac' }),
    cause: /token_type must be Bearer, got mac/,
    cure: ASK_OPERATOR,
  },
  { night: '12: the response is empty', run: called([200, '']), cause: /it is not a JSON object/, cure: ASK_OPERATOR },
  {
    night: '13: the API requires another audience',
    run: audience,
    cause: /new-tokens-refused; The API rejected an access token and its successor/,
    cure: /check that the API and the token service belong together, the audience and scope of the tokens/,
  },
  {
    night: '14: the process was suspended for a minute',
    run: stalled,
    cause: /^info .* renewed: refresh \(forced\), 1 call, 60 s/,
    cure: undefined,
  },
]

describe('given an incident, and only the lines of logEvents (F432)', () => {
  it.each(NIGHTS)('when it is night $night, then the lines name the cause and the cure', async ({ run, ...named }) => {
    expectNamed(await run(), named)
  })
})
