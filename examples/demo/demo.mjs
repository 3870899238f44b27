// Ten seconds of steady traffic through an axios instance that had interceptors of its own before the library came, while
// the token service throttles, fails and hangs, and the API revokes tokens. Run with: npm run demo
import axios from 'axios'
import { attachBearer, clientCredentials, createTokenManager } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'
import { setTimeout as pause } from 'node:timers/promises'

const SECONDS = 10
const REQUESTS_PER_SECOND = 50

const service = await startTokenService({ accessLifetimeMs: 3_000, latencyMs: 30 })

// An instance as it may have been for years: it numbers its requests and measures its answers.
const api = axios.create({ baseURL: service.baseUrl, timeout: 5_000 })
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
const tokens = createTokenManager({ source: clientCredentials({ baseUrl: service.baseUrl, ...service.client }) })
attachBearer(api, tokens)

const sum = { sent: 0, succeeded: 0, failed: 0, delayed: 0, retries: 0 }
const failures = new Map()
tokens.on('retry', () => (sum.retries += 1))

const scenes = [
  [
    1,
    'the token service throttles: 429, Retry-After 1 s',
    () => service.failNext('obtain', { status: 429, headers: { 'Retry-After': '1' } }),
  ],
  [3, 'the token service fails: 503, 503', () => service.failNext('obtain', { status: 503 }, 2)],
  [5, 'the API revokes every token issued so far', () => service.revokeAccessTokens()],
  [7, 'the token service breaks a connection', () => service.failNext('obtain', { drop: 'before' })],
]
/** A scene begins while the token is fresh, so that each is met by a renewal of its own. */
function nextScene(second) {
  if (!scenes[0] || second < scenes[0][0] || tokens.status().phase !== 'fresh') return
  const [, what, begin] = scenes.shift()
  begin()
  say(`${second.toFixed(1).padStart(4)} s  ${what}`)
}

async function request() {
  sum.sent += 1
  if (tokens.peekAccessToken() === undefined) sum.delayed += 1
  try {
    await api.post('/payments', { amount: 1 })
    sum.succeeded += 1
  } catch (error) {
    sum.failed += 1
    failures.set(error.code ?? error.name, (failures.get(error.code ?? error.name) ?? 0) + 1)
  }
}

console.log(`${SECONDS} s of ${REQUESTS_PER_SECOND} requests a second; access tokens live 3 s.\n`)
const startedAt = performance.now()
const running = []
for (let n = 0; n < SECONDS * REQUESTS_PER_SECOND; n += 1) {
  const second = n / REQUESTS_PER_SECOND
  nextScene(second)
  running.push(request())
  show(second)
  await pause(Math.max(0, startedAt + ((n + 1) * 1_000) / REQUESTS_PER_SECOND - performance.now()))
}
await Promise.all(running)
show(SECONDS)
await tokens.close()
await service.close()

const replays = service.log.filter(({ kind, status }) => kind === 'resource' && status === 401).length
const { counts } = tokens.status()
const tokenCalls = counts.obtains + counts.refreshes
const account = [
  ['requests sent', sum.sent, ''],
  ['failed', sum.failed, [...failures].map(([code, times]) => `${times} × ${code}`).join(', ')],
  ['delayed', sum.delayed, 'had to wait for a token'],
  ['token calls', tokenCalls, `${counts.failures} of them failed`],
  ['replays', replays, 'the API refused the token, the request was sent once more'],
  ['retries', sum.retries, 'of token calls'],
]
console.log('\n')
for (const [what, count, note] of account) console.log(`  ${what.padEnd(14)} ${String(count).padStart(5)}   ${note}`)

const promises = [
  ['every request succeeded', sum.succeeded === sum.sent && sum.failed === 0],
  ['each refused request was replayed once', service.count('resource') === sum.sent + replays && replays > 0],
  [
    'the instance’s own interceptors ran once a request',
    own.requests === sum.sent && own.answers === sum.sent && own.numbers.size === sum.sent,
  ],
  // A token of 3 s is due when half its life is over, at most a tenth earlier; each scene costs a call or two more.
  [
    'token calls follow the lifetime, not the traffic',
    tokenCalls === service.count('obtain') && tokenCalls <= SECONDS / 1.2 + 6,
  ],
  ['the token service was retried', sum.retries >= 4],
]
console.log()
for (const [promise, held] of promises) console.log(`  ${held ? 'held  ' : 'BROKEN'} ${promise}`)
process.exitCode = promises.every(([, held]) => held) ? 0 : 1

/** One line that follows the traffic: on a terminal rewritten in place, elsewhere not shown. */
function show(second) {
  if (!process.stdout.isTTY) return
  const { phase } = tokens.status()
  const bar = '█'.repeat(Math.round(second * 2)).padEnd(SECONDS * 2, '·')
  process.stdout.write(`\r${bar} ${sum.sent} sent  ${sum.failed} failed  token ${phase}      `)
}

function say(line) {
  console.log(process.stdout.isTTY ? `\r${line.padEnd(70)}` : line)
}
