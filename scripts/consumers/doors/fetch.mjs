import assert from 'node:assert/strict'
import { createTokenManager, clientCredentials } from 'axios-evergreen'
import { withBearer } from 'axios-evergreen/fetch'

async function main() {
  const source = clientCredentials({ baseUrl: 'https://payments.example', clientId: 'id', clientSecret: 'secret' })
  const tokens = createTokenManager({ source })
  const api = withBearer(fetch, tokens, { origins: ['https://api.example.com'] })
  assert.equal(typeof api, 'function')
  await tokens.close()
}

void main()
