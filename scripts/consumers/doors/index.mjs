import assert from 'node:assert/strict'
import { createTokenManager } from 'axios-evergreen'

async function main() {
  const obtain = async () => ({ accessToken: 'a-token', accessLifetimeMs: 60_000 })
  const tokens = createTokenManager({ source: { id: 'mine', obtain } })
  assert.equal(await tokens.getAccessToken(), 'a-token')
  await tokens.close()
}

void main()
