/** Tokens of the simulated service that are bound to a key (RFC 9449). */
import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import type { ProvingKey } from '../../src/dpop/index.ts'
import { attachBearer, createTokenManager } from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import type { SimulatedService } from '../../tools/testing/index.ts'
import { newKey } from '../dpop/support/keys.ts'
import { startWorld } from './world.ts'

type Answer = Record<'access_token' | 'refresh_token' | 'token_type' | 'error', string>

const proofFor = ({ tokenEndpoint }: SimulatedService, key: ProvingKey, nonce?: string) =>
  key.prove({ method: 'POST', url: tokenEndpoint, nonce })

async function tokenCall({ tokenEndpoint, client }: SimulatedService, proof: string, refreshToken?: string) {
  const grant = refreshToken === undefined ? 'client_credentials' : 'refresh_token'
  const { clientId: client_id, clientSecret: client_secret } = client
  const body = {
    grant_type: grant,
    client_id,
    client_secret,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  }
  const response = await fetch(tokenEndpoint, {
    method: 'POST',
    headers: { DPoP: proof },
    body: new URLSearchParams(body),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer }
}

/** @returns The status and the challenge of the API. */
async function asked({ baseUrl }: SimulatedService, authorization: string, proof?: string) {
  const headers = { Authorization: authorization, ...(proof !== undefined && { DPoP: proof }) }
  const { status, headers: told } = await fetch(`${baseUrl}/orders?page=1`, { headers })
  return [status, told.get('www-authenticate')]
}

describe('given a token request with a proof', () => {
  it('when it succeeds, then the token needs a proof of the same key in each request', async () => {
    const service = await startWorld()
    const [key, other] = [await newKey(), await newKey()]
    const { status, body } = await tokenCall(service, await proofFor(service, key))
    expect([status, body.token_type]).toEqual([200, 'DPoP'])
    const token = body.access_token
    const proof = (of: ProvingKey, of_token = token) =>
      of.prove({ method: 'GET', url: `${service.baseUrl}/orders`, token: of_token })
    const used = await proof(key)
    expect(await asked(service, `DPoP ${token}`, used)).toEqual([200, null])
    expect(await asked(service, `DPoP ${token}`, used)).toEqual([401, 'DPoP error="invalid_dpop_proof"'])
    expect(await asked(service, `DPoP ${token}`)).toEqual([401, 'DPoP error="invalid_dpop_proof"'])
    expect(await asked(service, `DPoP ${token}`, await proof(key, 'x'))).toEqual([
      401,
      'DPoP error="invalid_dpop_proof"',
    ])
    expect(await asked(service, `DPoP ${token}`, await proof(other))).toEqual([401, 'DPoP error="invalid_token"'])
    expect(await asked(service, `Bearer ${token}`, await proof(key))).toEqual([401, 'Bearer error="invalid_token"'])
  })

  it('when another key refreshes, then it is rejected, and the refresh token stays valid', async () => {
    const service = await startWorld()
    const [key, other] = [await newKey(), await newKey()]
    const { body } = await tokenCall(service, await proofFor(service, key))
    const stranger = await tokenCall(service, await proofFor(service, other), body.refresh_token)
    expect([stranger.status, stranger.body.error]).toEqual([400, 'invalid_grant'])
    const owner = await tokenCall(service, await proofFor(service, key), body.refresh_token)
    expect([owner.status, owner.body.token_type]).toEqual([200, 'DPoP'])
  })

  it.each<[string, (service: SimulatedService, key: ProvingKey) => string | Promise<string>]>([
    ['not a JWS', () => 'abc'],
    ['for another method', ({ tokenEndpoint: url }, key) => key.prove({ method: 'GET', url })],
    ['for another path', ({ baseUrl: url }, key) => key.prove({ method: 'POST', url })],
    ['for an access token', ({ tokenEndpoint: url }, key) => key.prove({ method: 'POST', url, token: 'x' })],
    ['changed afterwards', async (service, key) => (await proofFor(service, key)).replace('.', '.e')],
    [
      'signed by another key',
      async (service, key) => {
        const [one, two] = [await proofFor(service, key), await proofFor(service, await newKey())]
        return [two.split('.')[0], ...one.split('.').slice(1)].join('.')
      },
    ],
  ])('when the proof is %s, then it is rejected', async (_, proof) => {
    const service = await startWorld()
    const { status, body } = await tokenCall(service, await proof(service, await newKey()))
    expect([status, body.error]).toEqual([400, 'invalid_dpop_proof'])
  })

  it('when the proof is of another time, then it is rejected', async () => {
    const service = await startWorld({ clockOffsetMs: 120_000 })
    expect((await tokenCall(service, await proofFor(service, await newKey()))).body.error).toBe('invalid_dpop_proof')
  })
})

describe('given a service that requires nonces', () => {
  it('when a proof lacks the nonce, then the response has it', async () => {
    const service = await startWorld({ dpopNonces: true })
    const key = await newKey()
    const first = await tokenCall(service, await proofFor(service, key))
    expect([first.status, first.body.error]).toEqual([400, 'use_dpop_nonce'])
    const nonce = first.headers.get('dpop-nonce')!
    expect(await tokenCall(service, await proofFor(service, key, nonce))).toMatchObject({ status: 200 })
  })

  it('when a user logs in and the application sends requests, then they succeed, and the login is bound to the key', async () => {
    const service = await startWorld({ dpopNonces: true })
    const dpop = await newKey()
    const source = oauth2({ tokenEndpoint: service.tokenEndpoint, clientId: 'page', grant: 'login', dpop })
    const tokens = createTokenManager({ source })
    const api = axios.create({ baseURL: service.baseUrl, proxy: false })
    attachBearer(api, tokens, { dpop })
    const { refreshToken } = await service.logIn()
    await tokens.adopt({ refreshToken })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => api.post('/orders', { n })))
    service.revokeAccessTokens()
    answers.push(await api.get('/orders'))
    await tokens.close()
    expect(answers.map(({ status }) => status)).toEqual(Array(21).fill(200))
    expect(service.log.flatMap(({ kind, status }) => (kind === 'refresh' ? status : []))).toEqual([400, 200, 200])
  })

  it('when the option is not a boolean, then the error names it', async () => {
    await expect(startWorld({ dpopNonces: 'yes' as never })).rejects.toThrow(
      new TypeError('dpopNonces must be true or false, got yes'),
    )
  })
})
