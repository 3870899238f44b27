// Tests of your own code against a simulated service, with the runner of your choice: npm run example testing
import { startTokenService, type SimulatedService } from 'axios-evergreen/testing'
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { walletOf } from './wallet.ts'

describe('wallet', () => {
  let service: SimulatedService
  let wallet: ReturnType<typeof walletOf>

  before(async () => {
    service = await startTokenService()
  })
  beforeEach(() => {
    wallet = walletOf({ baseUrl: service.baseUrl, ...service.login })
  })
  afterEach(() => wallet.close())
  after(() => service.close())

  it('is reachable', async () => {
    assert.equal(await wallet.isReachable(), true)
  })

  it('is reachable after its token was revoked', async () => {
    await wallet.isReachable()
    service.revokeAccessTokens()
    assert.equal(await wallet.isReachable(), true)
    assert.deepEqual(
      service.log.slice(-3).map(({ kind, status }) => `${kind} ${status}`),
      ['resource 401', 'refresh 200', 'resource 200'],
    )
  })

  it('is not reachable while the token service throttles', async () => {
    service.failNext('obtain', { status: 429, headers: { 'Retry-After': '120' } })
    assert.equal(await wallet.isReachable(), false)
  })
})
