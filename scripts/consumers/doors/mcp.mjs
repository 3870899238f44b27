import assert from 'node:assert/strict'
import { mcpLogin } from 'axios-evergreen/mcp'

async function main() {
  const provider = {
    redirectUrl: 'http://127.0.0.1:9/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1:9/callback'] },
    clientInformation: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    redirectToAuthorization: () => undefined,
  }
  const login = mcpLogin({ serverUrl: 'https://tools.example/mcp', provider })
  assert.equal(typeof login.transport.fetch, 'function')
  assert.equal(await login.transport.authProvider.tokens(), undefined)
  await login.close()
}

void main()
