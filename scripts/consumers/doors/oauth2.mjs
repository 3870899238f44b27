import assert from 'node:assert/strict'
import { createTokenManager } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { startTokenService } from 'axios-evergreen/testing'

async function main() {
  const service = await startTokenService()
  const source = oauth2({ tokenEndpoint: service.tokenEndpoint, ...service.client })
  const tokens = createTokenManager({ source })
  assert.ok(await tokens.getAccessToken())
  await tokens.close()
  await service.close()
}

void main()
