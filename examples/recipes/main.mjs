// Runs the recipes against servers that reject the first token, twenty at once: npm run example recipes
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import {
  credentials,
  makeGenericClientConstructor,
  Server as GrpcServer,
  ServerCredentials,
  status,
} from '@grpc/grpc-js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createTokenManager } from 'axios-evergreen'
import { initTRPC } from '@trpc/server'
import { createHTTPHandler } from '@trpc/server/adapters/standalone'
import { GraphQLInt, GraphQLObjectType, GraphQLSchema } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { Server as SocketIoServer } from 'socket.io'
import WebSocket, { WebSocketServer } from 'ws'
import { z } from 'zod'
import { selfSigned } from '../../test/service/certificate.ts'
import { openEvents } from './event-source.mjs'
import { withTokens as gotWithTokens } from './got.mjs'
import { subscriber } from './graphql-ws.mjs'
import { called, withTokens as channelWithTokens } from './grpc.mjs'
import { connectTo } from './mcp.mjs'
import { connect } from './socket-io.mjs'
import { trpcClient } from './trpc.mjs'
import { openSocket } from './websocket.mjs'

const TIMES = Array.from({ length: 20 }, (_, n) => n)

const RECIPES = {
  async 'websocket.mjs'({ tokens, accepts, serve }) {
    const sockets = new WebSocketServer({ noServer: true })
    const { url, server } = await serve()
    server.on('upgrade', (request, socket, head) => {
      if (!accepts(request.headers.authorization)) return socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
      sockets.handleUpgrade(request, socket, head, (one) => one.on('message', (data) => one.send(data)))
    })
    const echoes = TIMES.map(async (n) => {
      const socket = await openSocket(url.replace('http', 'ws'), tokens)
      socket.send(`${n}`)
      const [echo] = await once(socket, 'message')
      socket.terminate()
      return Number(echo)
    })
    assert.deepEqual(await Promise.all(echoes), TIMES)
  },

  async 'socket-io.mjs'({ tokens, accepts, serve }) {
    const { url, server } = await serve()
    const sockets = new SocketIoServer(server)
    sockets.use(({ handshake }, next) =>
      next(accepts(`Bearer ${handshake.auth.token}`) ? undefined : new Error('unauthorized')),
    )
    sockets.on('connection', (socket) => socket.on('echo', (n, give) => give(n)))
    const clients = TIMES.map(() => connect(url, tokens))
    assert.deepEqual(await Promise.all(clients.map((client, n) => client.emitWithAck('echo', n))), TIMES)
    for (const client of clients) client.disconnect()
    await sockets.close()
  },

  async 'event-source.mjs'({ tokens, accepts, serve }) {
    const { url } = await serve((request, response) => {
      response.writeHead(accepts(request.headers.authorization) ? 200 : 401, { 'Content-Type': 'text/event-stream' })
      // The connection ends after one event, and the client connects again.
      response.end('retry: 1\ndata: hello\n\n')
    })
    const heard = TIMES.map(async () => {
      const events = openEvents(url, tokens)
      const said = []
      while (said.length < 2) said.push((await once(events, 'message'))[0].data)
      events.close()
      return said
    })
    assert.deepEqual(await Promise.all(heard), Array(20).fill(['hello', 'hello']))
  },

  async 'graphql-ws.mjs'({ tokens, accepts, serve, atEnd }) {
    const { url, server } = await serve()
    const count = async function* (_, { to }) {
      for (let n = 1; n <= to; n += 1) yield n
    }
    const number = { type: GraphQLInt }
    const counted = {
      type: GraphQLInt,
      args: { to: number },
      subscribe: (...given) => count(...given),
      resolve: (n) => n,
    }
    const schema = new GraphQLSchema({
      query: new GraphQLObjectType({ name: 'Query', fields: { none: number } }),
      subscription: new GraphQLObjectType({ name: 'Subscription', fields: { count: counted } }),
    })
    const sockets = new WebSocketServer({ server })
    const onConnect = ({ connectionParams }) => accepts(`Bearer ${connectionParams?.token}`) // false: 4403
    const served = useServer({ schema, onConnect }, sockets)
    const counts = TIMES.map(async () => {
      const client = subscriber(url.replace('http', 'ws'), tokens, {
        webSocketImpl: WebSocket,
        retryWait: async () => {},
      })
      atEnd(() => client.dispose())
      const told = []
      for await (const { data } of client.iterate({ query: 'subscription { count(to: 3) }' })) told.push(data.count)
      return told
    })
    assert.deepEqual(await Promise.all(counts), Array(20).fill([1, 2, 3]))
    atEnd(() => served.dispose())
  },

  async 'trpc.mjs'({ tokens, accepts, serve }) {
    const { router, procedure } = initTRPC.create()
    const echo = procedure.input((n) => n).query(({ input }) => input)
    const numbers = procedure.subscription(async function* () {
      yield* [1, 2, 3]
    })
    const handler = createHTTPHandler({ router: router({ echo, numbers }) })
    const { url } = await serve((request, response) =>
      accepts(request.headers.authorization) ? handler(request, response) : response.writeHead(401).end(),
    )
    const clients = TIMES.map(() => trpcClient(url, tokens))
    const told = clients.map(
      (client) =>
        new Promise((resolve, reject) => {
          const data = []
          client.numbers.subscribe(undefined, {
            onData: (n) => data.push(n),
            onError: reject,
            onComplete: () => resolve(data),
          })
        }),
    )
    assert.deepEqual(await Promise.all(told), Array(20).fill([1, 2, 3]))
    assert.deepEqual(await Promise.all(clients.map((client, n) => client.echo.query(n))), TIMES)
  },

  async 'grpc.mjs'({ tokens, accepts, atEnd }) {
    const [serialize, deserialize] = [(value) => Buffer.from(JSON.stringify(value)), JSON.parse]
    const both = { requestSerialize: serialize, requestDeserialize: deserialize }
    const say = { path: '/recipes.Echo/Say', requestStream: false, responseStream: false, ...both }
    const definition = { say: { ...say, responseSerialize: serialize, responseDeserialize: deserialize } }
    const { key, cert } = selfSigned()
    const [keyPem, certPem] = [key, cert].map((pem) => Buffer.from(pem))
    const server = new GrpcServer()
    server.addService(definition, {
      say({ metadata, request }, give) {
        const isGood = accepts(metadata.get('authorization').join())
        give(isGood ? null : { code: status.UNAUTHENTICATED, details: 'no' }, request)
      },
    })
    const pair = { private_key: keyPem, cert_chain: certPem }
    const port = await new Promise((resolve, reject) =>
      server.bindAsync('localhost:0', ServerCredentials.createSsl(null, [pair]), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    )
    const Echo = makeGenericClientConstructor(definition, 'Echo')
    const client = new Echo(`localhost:${port}`, channelWithTokens(credentials.createSsl(certPem), tokens))
    atEnd(() => (client.close(), server.forceShutdown()))
    const said = (n) =>
      new Promise((resolve, reject) =>
        client.say({ n }, (error, answer) => (error ? reject(error) : resolve(answer.n))),
      )
    assert.deepEqual(await Promise.all(TIMES.map((n) => called(() => said(n), tokens))), TIMES)
  },

  async 'mcp.mjs'({ tokens, accepts, serve, accept, atEnd }) {
    const { url } = await serve(async (request, response) => {
      if (!accepts(request.headers.authorization)) return response.writeHead(401).end()
      const server = new McpServer({ name: 'echo', version: '1.0.0' })
      server.registerTool('echo', { inputSchema: { n: z.number() } }, ({ n }) => ({
        content: [{ type: 'text', text: `${n}` }],
      }))
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
      await server.connect(transport)
      await transport.handleRequest(request, response)
    })
    accept('token-1')
    const client = await connectTo(url, tokens)
    atEnd(() => client.close())
    accept('token-2')
    const answers = await Promise.all(TIMES.map((n) => client.callTool({ name: 'echo', arguments: { n } })))
    assert.deepEqual(
      answers.map(({ content }) => Number(content[0].text)),
      TIMES,
    )
  },

  async 'got.mjs'({ tokens, accepts, serve }) {
    const echo = async (request, response) => {
      const { authorization } = request.headers
      const body = await text(request)
      if (request.url === '/away') return response.writeHead(302, { Location: elsewhere.url }).end()
      response.writeHead(accepts(authorization) || request.headers.bare ? 200 : 401)
      response.end(JSON.stringify({ authorization: authorization !== undefined, body }))
    }
    const [{ url }, elsewhere] = [await serve(echo), await serve(echo)]
    const client = gotWithTokens(tokens, url)
    const answers = await Promise.all(TIMES.map((n) => client.post(url, { json: { n } }).json()))
    assert.deepEqual(
      answers.map(({ body }) => JSON.parse(body).n),
      TIMES,
    )
    const away = await client.get(`${url}/away`, { headers: { bare: 'yes' } }).json()
    assert.deepEqual(away, { authorization: false, body: '' })
  },
}

let failed = 0
for (const [name, recipe] of Object.entries(RECIPES)) {
  const world = startWorld()
  try {
    await recipe(world)
    assert.equal(world.calls(), 2, 'token requests')
    console.log(`ok   ${name}`)
  } catch (error) {
    failed += 1
    console.log(`FAIL ${name}\n      ${error.stack}`)
  }
  await world.end()
}
console.log(`${Object.keys(RECIPES).length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)

/** A manager that obtains token-1, token-2, …, and servers that accept one of them. */
function startWorld() {
  let calls = 0
  let good = 'token-2'
  const obtain = async () => ({ accessToken: `token-${(calls += 1)}`, accessLifetimeMs: 600_000 })
  const tokens = createTokenManager({ source: { id: 'recipes', obtain } })
  const ends = [() => tokens.close()]
  return {
    tokens,
    calls: () => calls,
    accept: (token) => void (good = token),
    accepts: (authorization) => authorization === `Bearer ${good}`,
    atEnd: (end) => void ends.push(end),
    async serve(handler) {
      const server = createServer(handler).listen(0, '127.0.0.1')
      await once(server, 'listening')
      ends.push(() => (server.closeAllConnections(), server.close()))
      return { url: `http://127.0.0.1:${server.address().port}`, server }
    },
    async end() {
      for (const end of ends) await end()
    },
  }
}
