import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { withBearer } from 'axios-evergreen/fetch'

/** Connects to an MCP server over HTTP. Each message carries a fresh token, and a rejected one is replaced. Leave `authProvider` of the transport out. */
export async function connectTo(url, tokens) {
  const client = new Client({ name: 'recipe', version: '1.0.0' })
  const { origin } = new URL(url)
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { fetch: withBearer(fetch, tokens, { origins: [origin] }) }),
  )
  return client
}
