// One process of a machine: node agent.mjs, with what it shall do as JSON in AGENT. Says `ready`, waits for a line, then makes one call and prints how it went.
import { readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
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
  exchangeTimeoutMs = 10_000,
} = JSON.parse(process.env.AGENT)

/** Keeps what the SDK gives it in a file that all processes share, as programs do. */
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
  redirectToAuthorization = (page) => void this.pages.push(page)
  invalidateCredentials = (scope) => this.#keep({ tokens: undefined, ...(scope === 'all' && { client: undefined }) })
}

const provider = new FileProvider()
const redis = store?.redis && (await (await import('redis')).createClient({ url: store.redis }).connect())
const login = isAlone ? undefined : await openLogin()

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
/** @param whenAsked Resolves when the person agrees on the page that the SDK has opened. */
async function connected(whenAsked) {
  const [first, client] = ['first', 'agent'].map((name) => new Client({ name, version: '1.0.0' }))
  const transport = () => new StreamableHTTPClientTransport(new URL(url), options)
  if (whenAsked) {
    const asking = transport()
    await first.connect(asking).catch(() => undefined)
    if (provider.pages.length > 0) {
      await whenAsked()
      const { headers } = await fetch(provider.pages[0], { redirect: 'manual' })
      await asking.finishAuth(new URL(headers.get('location')).searchParams.get('code'))
    }
  }
  await client.connect(transport())
  return client
}

if (logsIn) await connected(() => undefined)
console.log('ready')
await once(process.stdin, 'data')
const onPage = async () => {
  console.log('page')
  await once(process.stdin, 'data')
}
try {
  const client = await connected(asksPerson ? onPage : undefined)
  const { content } = await client.callTool({ name: 'whoami' })
  console.log(`said ${content[0].text}`)
} catch (error) {
  console.log(`failed ${provider.pages.length > 0 ? 'LOG IN AGAIN' : (error.code ?? error.message)}`)
}
process.exit(0)
