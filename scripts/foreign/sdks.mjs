// SDKs that take a fetch, each with that of withBearer: a token instead of their own key, and the handler of docs/errors.md for the
// errors that they throw if a request gets no token.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
import { request as octokit } from '@octokit/request'
import { WebClient } from '@slack/web-api'
import { createTokenManager, isLoginRequired, isTokenError, TokenError, tokenErrorIn } from 'axios-evergreen'
import { withBearer } from 'axios-evergreen/fetch'
import OpenAI from 'openai'
import Stripe from 'stripe'
import { check, finish } from '../lib/checks.mjs'

/** How each makes a call, given its fetch and the address. Their own retries are off: they would repeat what cannot succeed. */
const SDKS = {
  openai(fetch, url) {
    const client = new OpenAI({ apiKey: 'of-nobody', baseURL: url, fetch, maxRetries: 0 })
    return () => client.models.list()
  },
  '@slack/web-api'(fetch, url) {
    const client = new WebClient('of-nobody', { slackApiUrl: `${url}/`, fetch, retryConfig: { retries: 0 } })
    return () => client.auth.test()
  },
  '@octokit/request'(fetch, url) {
    const client = octokit.defaults({ baseUrl: url, request: { fetch } })
    return () => client('GET /user')
  },
  stripe(fetch, url) {
    const { hostname, port } = new URL(url)
    const httpClient = Stripe.createFetchHttpClient(fetch)
    const client = new Stripe('of-nobody', { host: hostname, port, protocol: 'http', httpClient, maxNetworkRetries: 0 })
    return () => client.balance.retrieve()
  },
}

/** The code block of the page, unchanged. @returns A function that handles an error. */
function handlerOfThePage() {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const [, block] = /```ts\n(import \{ isLoginRequired.*?)```/s.exec(page)
  const [, handled] = /catch \(error\) \{\n(.*?)\n\}\n$/s.exec(block)
  const said = []
  const console = { warn: (...words) => said.push(words[0]), error: (...words) => said.push(words[0]) }
  const handle = new Function('error', 'tokens', 'console', 'isLoginRequired', 'tokenErrorIn', handled)
  return (error, tokens) => {
    said.length = 0
    handle(error, tokens, console, isLoginRequired, tokenErrorIn)
    return said[0]
  }
}
const handle = handlerOfThePage()

async function failureOf(call) {
  try {
    await call()
  } catch (error) {
    return error
  }
  throw new Error('it was fulfilled')
}

const CHECKS = {
  async 'a token is sent instead of its own key, and the next one after a 401'(open) {
    let issued = 0
    const obtain = async () => ({ accessToken: `token-${(issued += 1)}`, accessLifetimeMs: 60_000 })
    const { call, seen, end } = await opened(open, { id: 'own', obtain }, (bearer) => bearer !== 'Bearer token-1')
    await call()
    await call()
    await end()
    assert.deepEqual(seen, ['Bearer token-1', 'Bearer token-2', 'Bearer token-2'])
  },

  async 'no user has logged in: the handler of the page asks for a login'(open) {
    const obtain = () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'no user has logged in'))
    const { call, tokens, seen, end } = await opened(open, { id: 'own', obtain }, () => true)
    const error = await failureOf(call)
    await end()
    assert.deepEqual([handle(error, tokens), isTokenError(error, 'ERR_LOGIN_REQUIRED'), seen], ['log in', true, []])
  },

  async 'the token service throttles: the handler of the page says when'(open) {
    const obtain = () => Promise.reject(new TokenError('ERR_THROTTLED', 'too many', { retryAfterMs: 60_000 }))
    const { call, tokens, end } = await opened(open, { id: 'own', obtain }, () => true)
    const error = await failureOf(call)
    await end()
    assert.deepEqual([handle(error, tokens), tokenErrorIn(error)?.code], ['later', 'ERR_THROTTLED'])
  },
}

async function opened(open, source, isGood) {
  const seen = []
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization)
    const status = isGood(request.headers.authorization) ? 200 : 401
    response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"ok":true,"object":"list","data":[]}')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${server.address().port}`
  const tokens = createTokenManager({ source, retry: { maxAttempts: 1 } })
  const call = open(withBearer(fetch, tokens, { origins: [url], overwrite: true }), url)
  return {
    call,
    tokens,
    seen,
    end: () => Promise.all([tokens.close(), new Promise((done) => (server.close(done), server.closeAllConnections()))]),
  }
}

for (const [name, open] of Object.entries(SDKS))
  for (const [what, act] of Object.entries(CHECKS)) await check(`${name}: ${what}`, () => act(open))
finish()
// Some clients keep sockets open.
process.exit()
