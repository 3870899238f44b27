import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { withBearer } from '../../src/fetch/index.ts'
import { attachBearer } from '../../src/index.ts'
import { rejection, startApi } from '../axios/support/api-server.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { DOORS } from './support/doors.ts'

const LEFTOVERS = [
  'Bearer undefined',
  'bearer null',
  'Bearer NaN',
  'Bearer [object Object]',
  'Bearer',
  'Bearer ',
  'undefined',
  'DPoP null',
]
const MEANT = ['Bearer abc', 'Basic dTpw', 'Bearer undefined-but-longer', 'abc', 'Bearer nullable']

describe.each(DOORS)('given requests with their own header ($name)', ({ open }) => {
  it.each(LEFTOVERS)(
    'when it is %j, then they are left unchanged, and that is reported once (F368)',
    async (authorization) => {
      const { tokens, minted, anomalies } = startTokens()
      const server = await startApi(() => rejection)
      const send = open(tokens, { origins: [server.baseUrl] })
      for (const name of ['Authorization', 'authorization'])
        expect(await send(server.baseUrl, { headers: { [name]: authorization } })).toMatchObject({ status: 401 })
      expect([server.bearers, minted.calls]).toEqual([Array(2).fill(authorization.trim()), 0])
      expect(anomalies).toMatchObject([
        { kind: 'header-leftover', message: expect.stringMatching(/header Authorization/) },
      ])
    },
  )

  it.each(MEANT)('when it is %j, then they are left unchanged, without a report (F368)', async (authorization) => {
    const { tokens, anomalies } = startTokens()
    const server = await startApi()
    await open(tokens, { origins: [server.baseUrl] })(server.baseUrl, { headers: { authorization } })
    expect([server.bearers, anomalies]).toEqual([[authorization], []])
  })

  it('when they are sent to another origin, then the header is not reported (F368)', async () => {
    const { tokens, anomalies } = startTokens()
    const server = await startApi()
    const send = open(tokens, { origins: ['https://api.example.com'] })
    await send(server.baseUrl, { headers: { authorization: 'Bearer undefined' } })
    expect([server.bearers, anomalies]).toEqual([['Bearer undefined'], []])
  })
})

describe('given an interceptor from before this package', () => {
  it.each(['before', 'after'])(
    'when it is registered %s the attachment, and has no token, then that is reported once (F368)',
    async (when) => {
      const { tokens, anomalies } = startTokens()
      const server = await startApi(() => rejection)
      const api = axios.create({ baseURL: server.baseUrl, proxy: false, validateStatus: () => true })
      const old = () =>
        api.interceptors.request.use((config) => {
          config.headers.Authorization = `Bearer ${String((globalThis as { nobody?: string }).nobody)}`
          return config
        })
      if (when === 'before') old()
      attachBearer(api, tokens)
      if (when === 'after') old()
      for (let n = 0; n < 3; n += 1) await api.get('/')
      expect(anomalies.map(({ kind }) => kind)).toEqual(['header-leftover'])
    },
  )

  it('when there is no listener for a minute, then it is reported after it (F368)', async () => {
    const { tokens, anomalies } = startTokens()
    const server = await startApi(() => rejection)
    const api = withBearer(fetch, tokens, { origins: [server.baseUrl] })
    const other = withBearer(fetch, tokens, { origins: [server.baseUrl] })
    for (const one of [api, other, api])
      await one(server.baseUrl, { headers: new Headers({ authorization: 'Bearer null' }) })
    // Each kind at most once a minute.
    expect(anomalies.map(({ kind }) => kind)).toEqual(['header-leftover'])
  })
})
