// Five agents share one login to an MCP server. Two managers stand for two processes: `npm run bench:mcp` has eight real ones.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { memoryStore } from 'axios-evergreen'
import { mcpLogin } from 'axios-evergreen/mcp'
import { Provider } from './provider.mjs'
import { startServer } from './server.mjs'

const { url: serverUrl, ...server } = await startServer()
// Between processes: sqliteStore({ file }) or redisStore({ client }).
const store = memoryStore()
const provider = new Provider()
const login = mcpLogin({ serverUrl, provider, store })
const elsewhere = mcpLogin({ serverUrl, provider: new Provider(), store })

async function agent({ transport }) {
  const client = new Client({ name: 'agent', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(serverUrl, transport))
  return client
}
const ask = async (client) => (await client.callTool({ name: 'time' })).content[0].text

// 1. No user has logged in: the 401 of the server starts the login of the SDK.
const first = new StreamableHTTPClientTransport(serverUrl, login.transport)
await new Client({ name: 'agent', version: '1.0.0' }).connect(first).catch(({ message }) => console.log(message))
// 2. The user agrees, and the browser returns with the code.
const { headers } = await fetch(provider.page, { redirect: 'manual' })
await first.finishAuth(new URL(headers.get('location')).searchParams.get('code'))
// 3. All agents are logged in, also those of the other manager.
const agents = await Promise.all([login, login, login, elsewhere, elsewhere].map(agent))
console.log('Five agents ask:', (await Promise.all(agents.map(ask))).join(' '))
// 4. The access token expires. All five notice at once, and one refresh is enough.
server.expireAccess()
console.log('The access token has expired:', (await Promise.all(agents.map(ask))).join(' '))
console.log(`${server.counts.refreshes} refresh, ${server.counts.reuses} reuse alarms`)
// 5. The logout revokes the tokens.
await login.tokens.logout()
console.log(`${server.counts.revocations} revocation`)
await Promise.all([login.close(), elsewhere.close()])
server.close()
