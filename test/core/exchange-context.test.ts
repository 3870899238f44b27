import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { INTERNAL } from '../../src/core/token-source.ts'
import { dpopKey } from '../../src/dpop/index.ts'
import {
  clientCredentials,
  createTokenManager,
  type ExchangeContext,
  loginPassword,
  type TokenSource,
} from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { manualClock, type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { settle } from '../support/watched-clock.ts'

let service: SimulatedService
const withService = () => {
  beforeEach(async () => {
    service = await startTokenService()
  })
  afterEach(() => service.close())
}

const PUBLIC = ['clock', 'context', 'exchange', 'report', 'signal']

describe('given a custom source', () => {
  withService()

  it('when the manager calls it, then its context has the public members, and one symbol for the sources of this package', async () => {
    const contexts: ExchangeContext[] = []
    const grant = { accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r', context: 'here' }
    const seen = (context: ExchangeContext) => (contexts.push(context), Promise.resolve(grant))
    const source = {
      id: 'own',
      obtain: seen,
      refresh: (_: string, context: ExchangeContext) => seen(context),
      revoke: (_: object, context: ExchangeContext) => seen(context).then(() => undefined),
    }
    const tokens = createTokenManager({ source })
    await tokens.getAccessToken()
    await tokens.renew()
    await tokens.close()
    expect(contexts.map((context) => Object.keys(context).sort())).toEqual([
      PUBLIC.filter((name) => name !== 'context'),
      PUBLIC,
    ])
    expect(contexts.map((context) => Object.getOwnPropertySymbols(context))).toEqual([[INTERNAL], [INTERNAL]])
    expect(INTERNAL).toBe(Symbol.for('axios-evergreen.exchange'))
  })

  it('when it wraps a source of this package, and spreads the context, then the manager still knows what the exchange waits for', async () => {
    const clock = manualClock()
    const inner = oauth2({
      tokenEndpoint: service.tokenEndpoint,
      clientId: 'c',
      clientSecret: () => new Promise<string>(() => undefined),
    })
    const { signal } = new AbortController()
    const source = {
      id: 'wrapped',
      obtain: (context: ExchangeContext) =>
        inner.obtain({ ...context, signal: AbortSignal.any([context.signal, signal]) }),
    }
    const tokens = createTokenManager({ source, clock, retry: { maxAttempts: 1 } })
    const asked = tokens.getAccessToken().catch((error: unknown) => error)
    await settle()
    await clock.advance(10_000)
    expect(await asked).toMatchObject({
      outcome: 'not-sent',
      message: expect.stringMatching(/^The clientSecret function/),
    })
    await tokens.close()
  })
})

describe('given a context that the manager did not create', () => {
  withService()

  const keys = crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
  const sources: [string, () => TokenSource | Promise<TokenSource>][] = [
    ['clientCredentials', () => clientCredentials({ baseUrl: service.baseUrl, credentials: () => service.client })],
    ['loginPassword', () => loginPassword({ baseUrl: service.baseUrl, credentials: () => service.login })],
    [
      'oauth2 with a function for the secret and a proof',
      async () =>
        oauth2({
          tokenEndpoint: service.tokenEndpoint,
          clientId: service.client.clientId,
          clientSecret: () => service.client.clientSecret,
          dpop: dpopKey(await keys),
        }),
    ],
  ]
  it.each(sources)('when %s is called with its public members alone, then it returns tokens', async (_, create) => {
    const source = await create()
    const context = { signal: new AbortController().signal, clock: manualClock({ wallNow: Date.now() }) }
    const grant = await source.obtain(context)
    expect(grant.accessToken).toMatch(/./)
    if (grant.refreshToken === undefined) return
    const next = await source.refresh!(grant.refreshToken, context)
    expect(next.refreshToken).not.toBe(grant.refreshToken)
  })
})
