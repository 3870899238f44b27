import assert from 'node:assert/strict'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { dpopKey, webKey } from 'axios-evergreen/dpop'
import { oauth2 } from 'axios-evergreen/oauth2'
import axios from 'axios'

async function main() {
  const how = { name: 'ECDSA', namedCurve: 'P-256' }
  const dpop = dpopKey(await crypto.subtle.generateKey(how, false, ['sign', 'verify']))
  assert.equal((await dpop.thumbprint).length, 43)
  assert.equal((await dpop.prove({ method: 'GET', url: 'https://api.example' })).split('.').length, 3)
  // The key is one of this package for its other entries, too.
  const source = oauth2({ tokenEndpoint: 'https://id.example/token', clientId: 'id', clientSecret: 'secret', dpop })
  const tokens = createTokenManager({ source })
  attachBearer(axios.create({ baseURL: 'https://api.example' }), tokens, { dpop }).detach()
  await tokens.close()
  // Needs a page.
  assert.equal(typeof webKey, 'function')
}

void main()
