import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer, createTokenManager, type TokenManager } from '../../src/index.ts'
import { type DPoPKey, dpopKey, type ProvingKey } from '../../src/dpop/index.ts'
import { withBearer } from '../../src/fetch/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { listen, outcome } from '../support/managed.ts'
import { type BoundServer, startBoundServer } from './support/bound-server.ts'
import { externalKey, GENERATED, keyPair, newKey } from './support/keys.ts'

const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

async function started(demandsNonce = false): Promise<BoundServer> {
  const server = await startBoundServer({ demandsNonce })
  ended.push(() => server.end())
  return server
}

function manage({ tokenEndpoint }: BoundServer, dpop: DPoPKey | undefined, login: boolean): TokenManager {
  const client = login
    ? { clientId: 'public-client', grant: 'login' as const, account: 'somebody' }
    : { clientId: 'key-client', clientSecret: 'secret-of-nobody' }
  const tokens = createTokenManager({ source: oauth2({ tokenEndpoint, ...client, dpop }) })
  ended.push(() => tokens.close())
  return tokens
}

/** The application redeems the code of a login, with a proof of its key. */
async function redeemed(server: BoundServer, key: ProvingKey) {
  const { tokenEndpoint } = server
  const form = { grant_type: 'authorization_code', client_id: 'public-client', ...(await server.logIn()) }
  for (let nonce: string | undefined; ;) {
    const proof = await key.prove({ method: 'POST', url: tokenEndpoint, nonce })
    const answer = await fetch(tokenEndpoint, {
      method: 'POST',
      headers: { DPoP: proof },
      body: new URLSearchParams(form),
    })
    nonce = answer.headers.get('dpop-nonce') ?? undefined
    const { error, ...tokens } = (await answer.json()) as Record<string, string>
    if (error === undefined)
      return { accessToken: tokens.access_token!, accessLifetimeMs: 3_600_000, refreshToken: tokens.refresh_token! }
    if (error !== 'use_dpop_nonce') throw new Error(error)
  }
}

describe.each([
  ['requires no nonce', false],
  ['requires nonces', true],
])('given oidc-provider, which %s', (_, demandsNonce) => {
  it.each(['ES256', 'EdDSA'] as const)(
    'when a service has a key of %s, then its token is bound to that key',
    async (alg) => {
      const server = await started(demandsNonce)
      const tokens = manage(server, dpopKey(await keyPair(GENERATED[alg])), false)
      const first = await tokens.getAccessToken()
      await tokens.renew()
      expect(await tokens.getAccessToken()).not.toBe(first)
      expect(tokens.status().counts).toMatchObject({ obtains: 2, failures: 0 })
    },
  )

  it('when an external key signs, then the token is bound to that key', async () => {
    const tokens = manage(await started(demandsNonce), dpopKey(await externalKey()), false)
    await expect(tokens.getAccessToken()).resolves.toEqual(expect.any(String))
  })

  it('when a user has logged in, then refreshes and requests have proofs, through axios and fetch', async () => {
    const server = await started(demandsNonce)
    const dpop = await newKey()
    const tokens = manage(server, dpop, true)
    const told = listen(tokens)
    await tokens.adopt(await redeemed(server, dpop))
    const api = axios.create({ baseURL: server.origin, proxy: false })
    attachBearer(api, tokens, { dpop })
    const call = withBearer(fetch, tokens, { origins: [server.origin], dpop })
    for (let n = 0; n < 3; n += 1) {
      expect((await api.get<object>('/me')).data).toEqual({ sub: 'somebody' })
      const answer = await call(`${server.origin}/me?query=no`, { method: 'post' })
      expect(await answer.json()).toEqual({ sub: 'somebody' })
      await tokens.renew()
    }
    expect(tokens.status().counts).toMatchObject({ refreshes: 3, failures: 0 })
    expect([told.suspicious, told.anomaly]).toEqual([[], []])
  })

  it('when a token is stolen, then it is useless elsewhere', async () => {
    const server = await started(demandsNonce)
    const dpop = await newKey()
    const tokens = manage(server, dpop, true)
    const login = await redeemed(server, dpop)
    await tokens.adopt(login)
    const stolen = { peekAccessToken: () => login.accessToken, getAccessToken: async () => login.accessToken }
    const thief = { ...stolen, replaceAccessToken: () => Promise.reject(new Error('none')) } as unknown as TokenManager
    const call = withBearer(fetch, thief, { origins: [server.origin], dpop: await newKey() })
    expect((await call(`${server.origin}/me`)).status).toBe(401)
    expect((await withBearer(fetch, thief, { origins: [server.origin] })(`${server.origin}/me`)).status).toBe(401)
    const other = manage(server, await newKey(), true)
    await other.adopt(login)
    expect(await outcome(other.renew())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
  })
})

describe('given oidc-provider, and a client without a key', () => {
  it('when it obtains a token that must be bound, then the error shows the error of the server', async () => {
    const error = await outcome(manage(await started(), undefined, false).getAccessToken())
    expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_/), status: 400 })
  })
})
