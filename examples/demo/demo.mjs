// Ten seconds of steady traffic through axios instances that have interceptors of their own. Meanwhile the token services
// throttle, fail and lose responses, the APIs revoke tokens, and a refresh token is stolen. npm run demo
import axios from 'axios'
import { attachBearer, clientCredentials, createTokenManager, loginPassword } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'
import { setTimeout as pause } from 'node:timers/promises'

const SECONDS = 10
const REQUESTS_PER_SECOND = 50
const LIFETIME_MS = 3_000
/** A limit for slow machines: without it, requests would pile up until their tokens have expired. */
const MOST_AT_ONCE = 4
/** Then the demo ends, even if a scene has not. */
const MOST_SECONDS = 60

/** One account at a service of its own, and an axios instance for its API, as an application may have had it for years. */
async function startSide(variant, sourceOf, scenesOf) {
  const service = await startTokenService({ accessLifetimeMs: LIFETIME_MS, latencyMs: 30 })
  const api = axios.create({ baseURL: service.baseUrl, timeout: 30_000 })
  const own = { requests: 0, answers: 0, numbers: new Set() }
  api.interceptors.request.use((config) => {
    own.requests += 1
    config.headers.set('x-request-number', own.requests)
    return config
  })
  api.interceptors.response.use((response) => {
    own.answers += 1
    own.numbers.add(response.data.headers['x-request-number'])
    return response
  })

  // All that the library needs.
  const tokens = createTokenManager({ source: sourceOf(service) })
  attachBearer(api, tokens)

  const sum = { sent: 0, succeeded: 0, failed: 0, delayed: 0, retries: 0, alarms: [] }
  tokens.on('retry', () => (sum.retries += 1))
  tokens.on('suspicious', ({ evidence, severity }) => {
    sum.alarms.push(`${evidence}, ${severity}`)
    say(`        ${variant}: alarm: a refresh token was rejected before it expired: ${evidence}, severity ${severity}`)
  })
  const side = { variant, service, api, tokens, own, sum, scenes: scenesOf(service), isInScene: false }
  tokens.on('renewed', () => (side.isInScene = false))
  return side
}

const sides = [
  await startSide(
    'A',
    ({ baseUrl, client }) => clientCredentials({ baseUrl, ...client }),
    (service) => [
      [1, 'the token service throttles: 429, Retry-After 1 s', () => service.failNext('obtain', throttled())],
      [3, 'the token service fails: 503, 503', () => service.failNext('obtain', { status: 503 }, 2)],
      [5, 'the API revokes every token issued so far', () => service.revokeAccessTokens()],
      [7, 'the token service breaks a connection', () => service.failNext('obtain', { drop: 'before' })],
    ],
  ),
  await startSide(
    'B',
    ({ baseUrl, login }) => loginPassword({ baseUrl, ...login }),
    (service) => [
      [1, 'the token service fails: 503', () => service.failNext('refresh', { status: 503 })],
      [3, 'the response to a refresh is lost: no alarm', () => service.failNext('refresh', { drop: 'after' })],
      [5, 'the API revokes every token issued so far', () => service.revokeAccessTokens()],
      [7, 'a thief uses the refresh token', () => service.stealRefreshToken()],
    ],
  ),
]

async function request({ api, tokens, sum }) {
  sum.sent += 1
  if (tokens.peekAccessToken() === undefined) sum.delayed += 1
  try {
    await api.post('/payments', { amount: 1 })
    sum.succeeded += 1
  } catch (error) {
    sum.failed += 1
    say(`        failed: ${error.code ?? error.name}: ${error.message}`)
  }
}

/**
 * Begins the next scene after the renewal of the scene before, and while the token is fresh, so that each scene has a renewal of its own. It also
 * waits until no request is in flight: a request that is being replayed, and is rejected again, fails as it should.
 */
async function nextScene(side, second) {
  const { variant, tokens, scenes } = side
  const isReady = () => !side.isInScene && tokens.status().phase === 'fresh'
  if (!scenes[0] || second < scenes[0][0] || !isReady()) return
  await Promise.all(running)
  if (!isReady()) return
  const [, what, begin] = scenes.shift()
  say(`${second.toFixed(1).padStart(4)} s  ${variant}: ${what}`)
  await begin()
  side.isInScene = true
}

/** A slow machine needs longer: until each scene has begun, and has had its renewal. */
function isOver(second) {
  const isDone = ({ scenes, isInScene }) => scenes.length === 0 && !isInScene
  return second >= MOST_SECONDS || (second >= SECONDS && sides.every(isDone))
}

console.log(
  `${SECONDS} s of ${REQUESTS_PER_SECOND} requests a second for each variant; access tokens live ${LIFETIME_MS / 1_000} s.\n`,
)
const startedAt = performance.now()
const running = new Set()
for (let n = 0; !isOver(n / REQUESTS_PER_SECOND); n += 1) {
  for (const side of sides) {
    await nextScene(side, n / REQUESTS_PER_SECOND)
    while (running.size >= MOST_AT_ONCE) await Promise.race(running)
    const sent = request(side).then(() => running.delete(sent))
    running.add(sent)
  }
  show(n / REQUESTS_PER_SECOND)
  await pause(Math.max(0, startedAt + ((n + 1) * 1_000) / REQUESTS_PER_SECOND - performance.now()))
}
await Promise.all(running)
const tookSeconds = (performance.now() - startedAt) / 1_000
show(SECONDS)
for (const { tokens, service } of sides) {
  await tokens.close()
  await service.close()
}

const account = sides.map(({ service, tokens, sum }) => {
  const { obtains, refreshes, failures } = tokens.status().counts
  const replays = service.log.filter(({ kind, status }) => kind === 'resource' && status === 401).length
  return { ...sum, tokenCalls: obtains + refreshes, failures, replays, alarms: sum.alarms.length }
})
const rows = [
  ['requests sent', 'sent', ''],
  ['failed', 'failed', ''],
  ['delayed', 'delayed', 'had to wait for a token'],
  ['token requests', 'tokenCalls', ''],
  ['of them failed', 'failures', ''],
  ['retries', 'retries', 'of token requests'],
  ['replays', 'replays', 'the API rejected the token, and the request was sent once more'],
  ['alarms', 'alarms', 'a refresh token was rejected before it expired'],
]
console.log(`\n\n  ${'Variant'.padEnd(16)}${sides.map(({ variant }) => variant.padStart(5)).join('')}`)
for (const [what, name, note] of rows)
  console.log(`  ${what.padEnd(16)}${account.map((one) => String(one[name]).padStart(5)).join('')}   ${note}`)

const everywhere = (holds) => sides.every((side, n) => holds(side, account[n]))
const promises = [
  ['every request succeeded', everywhere(({ sum }) => sum.succeeded === sum.sent && sum.failed === 0)],
  [
    'each rejected request was replayed once',
    everywhere(({ service }, { sent, replays }) => service.count('resource') === sent + replays && replays > 0),
  ],
  [
    'the instances’ own interceptors ran once a request',
    everywhere(({ own, sum }) => [own.requests, own.answers, own.numbers.size].every((count) => count === sum.sent)),
  ],
  // A token is due after 40 to 50 % of its life; each scene costs a call or two more.
  [
    'token requests follow the lifetime, not the traffic',
    everywhere((_, { tokenCalls }) => tokenCalls <= tookSeconds / ((LIFETIME_MS / 1_000) * 0.4) + 8),
  ],
  ['token requests were retried', everywhere((_, { retries }) => retries >= 3)],
  [
    'the stolen refresh token raised one alarm, the lost response none',
    sides[1].sum.alarms.join() === 'unexplained, high',
  ],
]
console.log()
for (const [promise, held] of promises) console.log(`  ${held ? 'held  ' : 'BROKEN'} ${promise}`)
process.exitCode = promises.every(([, held]) => held) ? 0 : 1

function throttled() {
  return { status: 429, headers: { 'Retry-After': '1' } }
}

/** Shows one line about the traffic. A terminal rewrites the line in place; elsewhere it is not shown. */
function show(second) {
  if (!process.stdout.isTTY) return
  const bar = '█'.repeat(Math.round(second * 2)).padEnd(SECONDS * 2, '·')
  const states = sides.map(
    ({ variant, tokens, sum }) => `${variant} ${sum.sent} sent, ${sum.failed} failed, ${tokens.status().phase}`,
  )
  process.stdout.write(`\r${bar} ${states.join('  ')}    `)
}

function say(line) {
  console.log(process.stdout.isTTY ? `\r${line.padEnd(90)}` : line)
}
