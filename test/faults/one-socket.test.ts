import { Agent } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosError } from 'axios'
import { managerOf } from '../axios/support/tokens.ts'
import { failureOf, until } from '../axios/support/turns.ts'
import { attachBearer, clientCredentials } from '../../src/index.ts'
import { startTokenService } from '../../tools/testing/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

describe('given an API and a token service that share an agent with a single socket', () => {
  it.each([
    ['its timeout has passed', { timeout: 60_000 }, 90_000],
    ['its waiting budget is spent', {}, 60_000],
  ])(
    'when the token of a stream request is rejected, then its 401 surfaces once %s, and its body can be read (F169)',
    async (_, options, maxWaitMs) => {
      const service = await startTokenService({ accessLifetimeMs: 600_000 })
      const httpAgent = new Agent({ keepAlive: true, maxSockets: 1 })
      const clock = manualClock()
      try {
        const { baseUrl, client } = service
        const source = clientCredentials({ baseUrl, ...client, transport: { adapter: 'http', httpAgent } })
        const tokens = managerOf(source, { clock, renewal: { maxWaitMs }, exchangeTimeoutMs: 200_000 })
        const api = axios.create({ adapter: 'http', baseURL: baseUrl, httpAgent })
        attachBearer(api, tokens)
        await tokens.getAccessToken()
        service.revokeAccessTokens()
        let isOver = false
        const failed = failureOf<AxiosError<AsyncIterable<Buffer>>>(
          api.get('/orders', { responseType: 'stream', ...options }),
        ).finally(() => (isOver = true))
        // The response is still unread, so it holds the socket that the token request needs.
        await until(() => tokens.status().renewing)
        await clock.advance(59_999)
        expect(isOver).toBe(false)
        await clock.advance(1)
        await settle()
        expect(isOver).toBe(true)
        const { response } = await failed
        const { statusCode } = (response?.request as { res: { statusCode: number } }).res
        expect([response?.status, statusCode]).toEqual([401, 401])
        expect(service.log.map(({ kind }) => kind)).toEqual(['obtain', 'resource'])
        const chunks: Buffer[] = []
        for await (const chunk of response!.data) chunks.push(chunk)
        expect(Buffer.concat(chunks).length).toBeGreaterThan(0)
        // A response that was read to its end releases the socket.
        await until(() => !tokens.status().renewing)
        expect((await api.get('/orders')).status).toBe(200)
      } finally {
        httpAgent.destroy()
        await service.close()
      }
    },
  )
})
