import { inspect } from 'node:util'
import { startOther } from './other-origin.mjs'

const EVER = 1_000_000
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const times = (count, act) => Promise.all(Array.from({ length: count }, (_, n) => act(n)))

/**
 * What each contestant plays: `lasts` in seconds, the `service` and its options, and `play`, which makes calls through `call` (`call`
 * counts, and never rejects). `right` judges `{ tokenCalls, apiRequests, served, failed, leaked }`; `wanted` says the same in words.
 */
export const rows = {
  steady: {
    title: '200 requests over 40 s, tokens of 60 s',
    wanted: '200 succeed, 1 token request',
    lasts: 40,
    play: ({ call, quick }) => spaced(200, quick ? 10 : 200, call),
    right: ({ tokenCalls, served }) => tokenCalls === 1 && served === 200,
  },
  'parallel-401': {
    title: '20 parallel 401 responses',
    wanted: '20 succeed, 1 more token request',
    options: { latencyMs: 50 },
    async play({ call, service, start }) {
      await warmUp(call, start)
      service.revokeAccessTokens()
      await times(20, () => call())
    },
    right: ({ tokenCalls, served }) => tokenCalls === 1 && served === 20,
  },
  'late-401': {
    title: 'three late 401 responses, for a token that has been replaced',
    wanted: '3 succeed, 1 more token request',
    options: { latencyMs: 50 },
    async play({ call, service, start }) {
      await warmUp(call, start)
      service.revokeAccessTokens()
      await times(3, (n) => call(`/wallet?late=${n * 700}`))
    },
    right: ({ tokenCalls, served }) => tokenCalls === 1 && served === 3,
  },
  'service-down': {
    title: '10 requests within a second, the token service down (503), no token yet',
    wanted: 'each fails, at most 4 token requests',
    async play({ call, service }) {
      service.failNext('obtain', { status: 503 }, EVER)
      await spaced(10, 100, call)
    },
    right: ({ tokenCalls, failed }) => tokenCalls <= 4 && failed === 10,
  },
  'wrong-password': {
    title: 'a wrong password for 60 s, two requests a second',
    wanted: 'each fails, at most 2 token requests: more lock an account',
    wrongSecret: true,
    lasts: 60,
    play: ({ call, quick }) => spaced(120, quick ? 50 : 500, call),
    right: ({ tokenCalls, failed }) => tokenCalls <= 2 && failed === 120,
  },
  'always-401': {
    title: 'an API that always responds with 401, 20 requests in two seconds',
    wanted: 'each fails, at most 2 token requests, no request sent more than twice',
    async play({ call, service }) {
      service.failNext('resource', { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } }, EVER)
      await spaced(20, 100, call)
    },
    right: ({ tokenCalls, apiRequests, failed }) => tokenCalls <= 2 && apiRequests <= 40 && failed === 20,
  },
  'first-aborts': {
    title: 'the first of ten callers aborts during a token request',
    wanted: '9 succeed, 1 token request',
    options: { latencyMs: 300 },
    async play({ call }) {
      const aborter = new AbortController()
      setTimeout(() => aborter.abort(), 100)
      await times(10, (n) => call('/wallet', n === 0 ? { signal: aborter.signal } : {}))
    },
    right: ({ tokenCalls, served }) => tokenCalls === 1 && served === 9,
  },
  'long-lived': {
    title: 'a token of 30 days, one idle second',
    wanted: '1 token request',
    options: { accessLifetimeMs: 30 * 86_400_000 },
    async play({ call }) {
      await call()
      await pause(1_000)
    },
    right: ({ tokenCalls, served }) => tokenCalls === 1 && served === 1,
  },
  'other-origin': {
    title: 'a request to another origin through the same client',
    wanted: 'no token is sent there',
    async play({ call, tally, api }) {
      await call()
      const other = await startOther()
      await call(other.url)
      tally.leaked = other.received().filter((header) => api.tokens().some((token) => header.includes(token))).length
      await other.close()
    },
    right: ({ leaked }) => leaked === 0,
  },
  'printed-error': {
    title: '`console.log(error)` when the API fails, and when the token service does',
    wanted: 'neither the token nor the secret is printed',
    async play({ call, service, tally, api, secret, another }) {
      await call()
      // A status that no library retries.
      service.failNext('resource', { status: 404 })
      const ofApi = inspect(await call())
      service.failNext('obtain', { status: 503 }, EVER)
      const ofTokenService = inspect(await (await another())())
      const printed = (text, words) => words.some((word) => text.includes(word))
      tally.leaked = Number(printed(ofApi, api.tokens())) + Number(printed(ofTokenService, [secret]))
    },
    right: ({ leaked }) => leaked === 0,
  },
}

/** Starts a call every `everyMs`, whether or not the last one has had a response. */
async function spaced(count, everyMs, call) {
  await times(count, async (n) => {
    await pause(n * everyMs)
    await call()
  })
}

/** Makes one call that does not count. The judged part begins after it. */
async function warmUp(call, start) {
  await call()
  start()
}
