// One process of a machine: node agent.mjs, with its settings as JSON in AGENT. Prints `ready`, waits for a line, makes one call and prints the result.
import { readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const {
  url,
  dist,
  store,
  keeps,
  isAlone,
  logsIn,
  maxWaitMs,
  asksPerson,
  host = 'sdk-1',
  robot,
  exchangeTimeoutMs = 10_000,
} = JSON.parse(process.env.AGENT)

/** Keeps what the SDK saves in a file that all processes share, as programs do. */
class FileProvider {
  redirectUrl = 'http://127.0.0.1:9/callback'
  clientMetadata = {
    client_name: 'agent',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
  }
  pages = []
  #kept() {
    try {
      return JSON.parse(readFileSync(keeps, 'utf8'))
    } catch {
      return {}
    }
  }
  #keep(change) {
    writeFileSync(keeps, JSON.stringify({ ...this.#kept(), ...change }))
  }
  clientInformation = () => this.#kept().client
  saveClientInformation = (client) => this.#keep({ client })
  tokens = () => this.#kept().tokens
  saveTokens = (tokens) => this.#keep({ tokens })
  codeVerifier = () => this.#kept().verifier
  saveCodeVerifier = (verifier) => this.#keep({ verifier })
  discoveryState = () => this.#kept().discovery
  saveDiscoveryState = (discovery) => this.#keep({ discovery })
  authorizationServerInformation = () => this.#kept().information
  saveAuthorizationServerInformation = (information) => this.#keep({ information })
  redirectToAuthorization = (page) => void this.pages.push(page)
  invalidateCredentials = (scope) => this.#keep({ tokens: undefined, ...(scope === 'all' && { client: undefined }) })
}

const of2 = host === 'client-2' ? await import('@modelcontextprotocol/client') : undefined
const provider = robot ? await providerOf(robot) : new FileProvider()
const redis = store?.redis && (await (await import('redis')).createClient({ url: store.redis }).connect())
const login = isAlone ? undefined : await openLogin()

async function providerOf(robot) {
  const { PrivateKeyJwtProvider } = of2 ?? (await import('@modelcontextprotocol/sdk/client/auth-extensions.js'))
  return new PrivateKeyJwtProvider(robot)
}

async function openLogin() {
  const { mcpLogin } = await import(`${dist}/mcp.js`)
  const { sqliteStore } = await import(`${dist}/sqlite.js`)
  const { redisStore } = await import(`${dist}/redis.js`)
  // The machine may be busy with forty other things.
  const patience = { commandTimeoutMs: 5_000 }
  const opened = redis ? redisStore({ client: redis, ...patience }) : sqliteStore({ file: store.file, ...patience })
  const manager = { exchangeTimeoutMs, ...(maxWaitMs !== undefined && { renewal: { maxWaitMs } }) }
  return mcpLogin({ serverUrl: url, provider, store: opened, manager })
}

const options = login?.transport ?? { authProvider: provider }

/** How each host connects. Each returns a function that calls a tool. */
const hosts = {
  async 'sdk-1'() {
    const client = new Client({ name: 'agent', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url), options))
    return () => client.callTool({ name: 'whoami' })
  },
  async 'client-2'() {
    const client = new of2.Client({ name: 'agent', version: '1.0.0' })
    await client.connect(new of2.StreamableHTTPClientTransport(new URL(url), options))
    return () => client.callTool({ name: 'whoami' })
  },
  async 'ai-sdk'() {
    const { createMCPClient } = await import('@ai-sdk/mcp')
    const client = await createMCPClient({ transport: { type: 'http', url, ...options } })
    const { whoami } = await client.tools()
    return () => whoami.execute({}, { toolCallId: '1', messages: [] })
  },
  /** It accepts no fetch. */
  async langchain() {
    const { MultiServerMCPClient } = await import('@langchain/mcp-adapters')
    const { authProvider } = options
    const mcpServers = { world: { transport: 'http', url, authProvider } }
    const client = new MultiServerMCPClient({ throwOnLoadError: true, mcpServers })
    const tool = (await client.getTools()).find(({ name }) => name === 'whoami')
    return async () => ({ content: [{ text: await tool.invoke({}) }] })
  },
}

/** @param code From the page that the user has confirmed. */
async function finish(code) {
  const { authProvider, fetch: fetchFn } = options
  const login = { serverUrl: url, authorizationCode: code }
  if (host === 'ai-sdk') await (await import('@ai-sdk/mcp')).auth(authProvider, { ...login, fetchFn })
  else if (host === 'langchain') await auth(authProvider, login)
  else {
    const Transport = host === 'client-2' ? of2.StreamableHTTPClientTransport : StreamableHTTPClientTransport
    await new Transport(new URL(url), options).finishAuth(code)
  }
}

/** @param whenAsked Resolves when the user confirms the page that the SDK has opened. */
async function connected(whenAsked) {
  if (whenAsked) {
    await hosts[host]().catch(() => undefined)
    if (provider.pages.length > 0) {
      await whenAsked()
      const { headers } = await fetch(provider.pages[0], { redirect: 'manual' })
      await finish(new URL(headers.get('location')).searchParams.get('code'))
    }
  }
  return hosts[host]()
}

if (logsIn) await connected(() => undefined)
console.log('ready')
await once(process.stdin, 'data')
const onPage = async () => {
  console.log('page')
  await once(process.stdin, 'data')
}
try {
  const call = await connected(asksPerson ? onPage : undefined)
  const { content } = await call()
  console.log(`said ${content[0].text}`)
} catch (error) {
  console.log(`failed ${provider.pages?.length > 0 ? 'LOG IN AGAIN' : (error.code ?? error.message)}`)
}
process.exit(0)
