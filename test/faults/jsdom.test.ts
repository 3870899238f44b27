/** @jest-environment ./test/support/jsdom/environment.cjs */
import { describe, expect, it } from '@jest/globals'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import axios, { type AxiosAdapter } from 'axios'
import { attachBearer, clientCredentials, createTokenManager, loginPassword } from '../../src/index.ts'

const baseUrl = 'https://tokens.example'
const adapter: AxiosAdapter = async (config) => {
  const data = { type: 'auth-token', id: '1', attributes: { access: 'token-1', expires_in: 60, token_type: 'Bearer' } }
  return { config, data: JSON.stringify({ data }), status: 200, statusText: 'OK', headers: {} }
}

describe('given jest with jsdom', () => {
  it('when the library is imported there, then it reads no globals that jsdom lacks (F189)', () => {
    // The first line of this file selects this environment. Without it the test would prove nothing.
    expect(['window' in globalThis, typeof TextEncoder, typeof crypto.subtle]).toEqual([true, 'undefined', 'undefined'])
    expect(typeof attachBearer).toBe('function')
  })

  it('when sources, manager and attachment are created there, then that works (F189)', async () => {
    const sources = [
      clientCredentials({ baseUrl, clientId: 'a', clientSecret: 'b', transport: { adapter } }),
      loginPassword({ baseUrl, login: 'a', password: 'b', transport: { adapter } }),
    ]
    for (const source of sources) {
      const tokens = createTokenManager({ source })
      attachBearer(axios.create({ baseURL: 'https://api.example' }), tokens).detach()
      expect(tokens.status().phase).toBe('empty')
      await tokens.close()
    }
  })

  it('when a request is sent there, then it carries the token of a custom source (F189)', async () => {
    const obtain = async () => ({ accessToken: 'token-1', accessLifetimeMs: 60_000 })
    const tokens = createTokenManager({ source: { id: 'own', obtain } })
    const sent: unknown[] = []
    const api = axios.create({
      baseURL: 'https://api.example',
      adapter: async (config) => {
        sent.push(config.headers.get('Authorization'))
        return { config, data: '', status: 200, statusText: 'OK', headers: {} }
      },
    })
    attachBearer(api, tokens)
    await api.get('/orders', { signal: new AbortController().signal })
    expect(sent).toEqual(['Bearer token-1'])
    await tokens.close()
  })

  it('when a request is sent there by the adapter that axios chooses, then its server receives the token (F189)', async () => {
    const obtain = async () => ({ accessToken: 'token-1', accessLifetimeMs: 60_000 })
    const tokens = createTokenManager({ source: { id: 'own', obtain } })
    const received: unknown[] = []
    const server = createServer(({ method, headers }, response) => {
      response.setHeader('Access-Control-Allow-Origin', '*').setHeader('Access-Control-Allow-Headers', 'Authorization')
      if (method === 'GET') received.push(headers.authorization)
      response.end('{}')
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const api = axios.create({ baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    attachBearer(api, tokens)
    expect('Request' in globalThis).toBe(false)
    for (let n = 0; n < 2; n += 1) expect((await api.get('/orders')).status).toBe(200)
    expect(received).toEqual(['Bearer token-1', 'Bearer token-1'])
    await tokens.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
})
