import { Agent, createServer as createTlsServer } from 'node:https'
import type { RequestListener } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosError } from 'axios'
import { attachBearer } from '../../src/index.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { failureOf } from '../axios/support/turns.ts'
import { selfSigned } from '../service/certificate.ts'
import { ADAPTERS, listening, serve } from '../service/world.ts'
import { VirtualClock } from '../support/virtual-clock.ts'

const redirecting =
  (status: number, location: () => string): RequestListener =>
  (_, reply) =>
    void reply.writeHead(status, { Location: location() }).end()
const accepting: RequestListener = (_, reply) => void reply.end('{}')
const refusing: RequestListener = (_, reply) => void reply.writeHead(401).end()

/** One name, served with and without TLS. */
async function startBoth(overTls: RequestListener, plain: RequestListener) {
  const certificate = selfSigned()
  const bearers: Record<'http' | 'https', (string | undefined)[]> = { http: [], https: [] }
  const secure = createTlsServer(certificate, (request, reply) => {
    bearers.https.push(request.headers.authorization)
    overTls(request, reply)
  })
  const server = await serve((request, reply) => {
    bearers.http.push(request.headers.authorization)
    plain(request, reply)
  })
  const named = (origin: string) => origin.replace('127.0.0.1', 'localhost')
  return {
    bearers,
    http: named(server.origin),
    https: named(`https://${await listening(secure)}`),
    httpsAgent: new Agent({ ca: certificate.cert }),
  }
}

describe.each([301, 302, 303, 307, 308])('given an API that sends requests on to another scheme with %i', (status) => {
  it('when that is from https to http, then the token does not go out in the clear (F42)', async () => {
    const both = await startBoth(
      redirecting(status, () => `${both.http}/there`),
      accepting,
    )
    const api = axios.create({ adapter: 'http', baseURL: both.https, httpsAgent: both.httpsAgent })
    attachBearer(api, startTokens().tokens)
    expect((await api.post('/away', 'body')).status).toBe(200)
    expect(both.bearers).toEqual({ https: ['Bearer token-1'], http: [undefined] })
  })

  it('when that is from http to https, then the token does not follow either (F42)', async () => {
    const both = await startBoth(
      accepting,
      redirecting(status, () => `${both.https}/there`),
    )
    const api = axios.create({ adapter: 'http', baseURL: both.http, httpsAgent: both.httpsAgent })
    attachBearer(api, startTokens().tokens)
    expect((await api.get('/away')).status).toBe(200)
    expect(both.bearers).toEqual({ http: ['Bearer token-1'], https: [undefined] })
  })
})

describe.each(ADAPTERS)('given an API that sends requests on to another origin (%s adapter)', (adapter) => {
  it('when they are refused there for want of a token, then one is replaced, once, and none is seen there (F42)', async () => {
    const other = await serve(refusing)
    const server = await serve(redirecting(307, () => `${other.origin}/there`))
    const { tokens, minted } = startTokens({ clock: new VirtualClock() })
    const api = axios.create({ adapter, baseURL: server.origin })
    attachBearer(api, tokens)
    for (let request = 0; request < 3; request += 1)
      expect(await failureOf<AxiosError>(api.get('/away'))).toMatchObject({ status: 401 })
    expect(JSON.stringify(other.seen)).not.toContain('token-')
    // A token may be replaced again after two seconds, and here no time passes.
    expect(minted.calls).toBe(2)
    expect(server.seen).toHaveLength(4)
  })
})
