// Clients that take a fetch, each with that of withBearer: twenty parallel POSTs that the API rejects, one renewal, every body intact.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createClient as createHeyClient } from '@hey-api/client-fetch'
import { request as octokit } from '@octokit/request'
import { createTRPCUntypedClient, httpBatchLink } from '@trpc/client'
import { Client as UrqlClient, fetchExchange } from '@urql/core'
import { createTokenManager } from 'axios-evergreen'
import { withBearer } from 'axios-evergreen/fetch'
import { GraphQLClient } from 'graphql-request'
import ky from 'ky'
import nodeFetch, { Request as NodeFetchRequest } from 'node-fetch'
import { createFetch } from 'ofetch'
import createOpenApiClient from 'openapi-fetch'
import { fetch as undiciFetch, Request as UndiciRequest } from 'undici'
import wretch from 'wretch'
import { check, finish } from '../lib/checks.mjs'

const REQUESTS = 20
/** How each client posts JSON, given its fetch and the address. @returns A function that sends `body` and resolves with the response. */
const CLIENTS = {
  fetch: (fetch, url) => (body) => fetch(url, posted(body)).then(read),
  'fetch with a Request': (fetch, url) => (body) => fetch(new Request(url, posted(body))).then(read),
  undici: [undiciFetch, (fetch, url) => (body) => fetch(url, posted(body)).then(read)],
  'undici with its Request': [
    undiciFetch,
    (fetch, url) => (body) => fetch(new UndiciRequest(url, posted(body))).then(read),
  ],
  'node-fetch': [nodeFetch, (fetch, url) => (body) => fetch(url, posted(body)).then(read)],
  'node-fetch with its Request': [
    nodeFetch,
    (fetch, url) => (body) => fetch(new NodeFetchRequest(url, posted(body))).then(read),
  ],
  ky(fetch, url) {
    const client = ky.create({ fetch, retry: 0 })
    return (json) => client.post(url, { json }).json()
  },
  ofetch(fetch, url) {
    const client = createFetch({ fetch, defaults: { retry: 0 } })
    return (body) => client(url, { method: 'POST', body })
  },
  'openapi-fetch'(fetch, url) {
    const client = createOpenApiClient({ baseUrl: url, fetch })
    return async (body) => (await client.POST('/', { body })).data
  },
  '@hey-api/client-fetch'(fetch, url) {
    const client = createHeyClient({ baseUrl: url, fetch })
    return async (body) => (await client.post({ url: '/', body, headers: { 'Content-Type': 'application/json' } })).data
  },
  'graphql-request'(fetch, url) {
    const client = new GraphQLClient(url, { fetch })
    return async (variables) => (await client.request('query q($n: Int) { n }', variables)).received
  },
  '@urql/core'(fetch, url) {
    const client = new UrqlClient({ url, fetch, exchanges: [fetchExchange] })
    return async (variables) =>
      (await client.mutation('mutation m($n: Int) { n }', variables).toPromise()).data.received
  },
  '@trpc/client'(fetch, url) {
    // One call in each batch: here each call is a POST of its own.
    const client = createTRPCUntypedClient({ links: [httpBatchLink({ url, fetch, maxItems: 1 })] })
    return (body) => client.mutation('echo', body)
  },
  wretch(fetch, url) {
    const client = wretch(url).polyfills({ fetch })
    return (body) => client.post(body).json()
  },
  '@octokit/request'(fetch, url) {
    const client = octokit.defaults({ baseUrl: url, request: { fetch } })
    return async (body) => (await client('POST /orders', body)).data
  },
}

for (const [name, client] of Object.entries(CLIENTS)) {
  const [fetch, create] = Array.isArray(client) ? client : [globalThis.fetch, client]
  await check(name, () => bodiesStay(fetch, create))
}
finish()
// Some clients keep sockets open.
process.exit()

async function bodiesStay(fetch, create) {
  const bodies = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const isGood = request.headers.authorization === 'Bearer token-2'
    if (isGood) bodies.push(body)
    response.writeHead(isGood ? 200 : 401, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(isGood ? answerTo(request.url, JSON.parse(body)) : {}))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${server.address().port}`
  let calls = 0
  const obtain = async () => ({ accessToken: `token-${++calls}`, accessLifetimeMs: 600_000 })
  const tokens = createTokenManager({ source: { id: 'foreign', obtain } })
  try {
    const post = create(withBearer(fetch, tokens, { origins: [url] }), url)
    const given = Array.from({ length: REQUESTS }, (_, n) => ({ n, text: 'ü'.repeat(n) }))
    const answers = await Promise.all(given.map((body) => post(body)))
    assert.deepEqual(answers, given)
    assert.equal(bodies.length, REQUESTS)
    assert.equal(calls, 2, 'token calls')
  } finally {
    await tokens.close()
    server.closeAllConnections()
    server.close()
  }
}

/** The response of GraphQL or of tRPC; else what was received. */
function answerTo(path, received) {
  if (received.query) return { data: { received: received.variables } }
  return path.includes('batch=1') ? [{ result: { data: received['0'] } }] : received
}

function posted(body) {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
}

function read(response) {
  return response.json()
}
