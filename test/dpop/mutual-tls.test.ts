import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { Agent } from 'node:https'
import { attachBearer, createTokenManager } from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { type Certificate, selfSigned } from '../service/certificate.ts'
import { outcome } from '../support/managed.ts'
import { type BoundServer, startBoundServer } from './support/bound-server.ts'

const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

async function startWorld() {
  const [ofServer, ofClient] = [selfSigned(), selfSigned('client.example')]
  const server = await startBoundServer({ tls: ofServer, clientCert: ofClient.cert })
  ended.push(() => server.end())
  return { server, ofServer, ofClient }
}

/** A client with this certificate: see docs/dpop.md. */
function manage({ tokenEndpoint }: BoundServer, ca: string, shown: Certificate | undefined) {
  const httpsAgent = new Agent({ ca, ...shown })
  const client = { clientId: 'certificate-client', clientAuthentication: 'none' } as const
  const source = oauth2({ tokenEndpoint, ...client, transport: { httpsAgent, proxy: false } })
  const tokens = createTokenManager({ source })
  ended.push(() => tokens.close())
  return { tokens, httpsAgent }
}

describe('given oidc-provider, and a client that authenticates by its certificate (RFC 8705)', () => {
  it('when it obtains tokens, then they are valid with that certificate, are renewed, and are useless without it', async () => {
    const { server, ofServer, ofClient } = await startWorld()
    const { tokens, httpsAgent } = manage(server, ofServer.cert, ofClient)
    const api = axios.create({ baseURL: server.origin, httpsAgent, proxy: false, validateStatus: null })
    attachBearer(api, tokens)
    const first = await tokens.getAccessToken()
    expect((await api.get('/api')).status).toBe(200)
    await tokens.renew()
    expect(await tokens.getAccessToken()).not.toBe(first)
    expect((await api.get('/api')).status).toBe(200)
    expect(tokens.status().counts).toMatchObject({ obtains: 2, failures: 0 })

    const headers = { Authorization: `Bearer ${await tokens.getAccessToken()}` }
    for (const shown of [selfSigned('client.example'), undefined]) {
      const thief = new Agent({ ca: ofServer.cert, ...shown })
      const stolen = await axios.get(`${server.origin}/api`, {
        httpsAgent: thief,
        proxy: false,
        headers,
        validateStatus: null,
      })
      expect(stolen.status).toBe(401)
    }
  })

  it.each([
    ['another certificate', selfSigned('client.example')],
    ['none', undefined],
  ])('when it presents %s, then the client is rejected', async (_, shown) => {
    const { server, ofServer } = await startWorld()
    const error = await outcome(manage(server, ofServer.cert, shown).tokens.getAccessToken())
    expect(error).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', serviceCode: 'invalid_client' })
  })
})
