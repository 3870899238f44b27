import assert from 'node:assert/strict'
import { createTokenManager } from 'axios-evergreen'
import { manualClock } from 'axios-evergreen/testing'

async function main() {
  const clock = manualClock()
  let calls = 0
  const obtain = async () => ({ accessToken: `token-${(calls += 1)}`, accessLifetimeMs: 60_000 })
  const tokens = createTokenManager({ source: { id: 'mine', obtain }, clock })
  assert.equal(await tokens.getAccessToken(), 'token-1')
  await clock.advance(60_000)
  assert.equal(await tokens.getAccessToken(), 'token-2')
  await tokens.close()
}

void main()
