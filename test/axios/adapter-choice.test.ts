import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer } from '../../src/index.ts'
import { startApi } from './support/api-server.ts'
import { startTokens } from './support/tokens.ts'

describe('given an instance with the fetch adapter, and requests of which only some have an `env`', () => {
  it('when one request has its own fetch and the next has none, then each is sent by the right fetch', async () => {
    const server = await startApi(() => ({ status: 200 }))
    const api = axios.create({ adapter: 'fetch', baseURL: server.baseUrl })
    Reflect.deleteProperty(api.defaults, 'env')
    attachBearer(api, startTokens().tokens)
    let seen = 0
    const own = { fetch: (...args: Parameters<typeof fetch>) => ((seen += 1), fetch(...args)) }
    const env = { ...own, Request, Response } as never
    for (const config of [{ env }, {}, { env }]) await api.get('/', config)
    expect([seen, server.received.map(({ headers }) => headers.authorization)]).toEqual([
      2,
      ['Bearer token-1', 'Bearer token-1', 'Bearer token-1'],
    ])
  })
})
