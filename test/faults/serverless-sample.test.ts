import { describe, expect, it } from '@jest/globals'
import axios, { type InternalAxiosRequestConfig } from 'axios'
import { readFileSync } from 'node:fs'
import { attachBearer, createTokenManager } from '../../src/index.ts'
import { outcome } from '../support/managed.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'

const page = readFileSync('docs/serverless.md', 'utf8')
/** The number that the sample gives to an option. */
const given = (option: string) => Number(new RegExp(`${option}: ([\\d_]+)`).exec(page)![1]!.replaceAll('_', ''))
const LIMIT_MS = 3_000

describe('F430: given the sample of the serverless page, for a function with a limit of 3 s', () => {
  it('then it waits for a token, and for the API, for less than the limit', () => {
    expect(given('maxWaitMs') + given('timeout')).toBeLessThan(LIMIT_MS)
  })

  it.each([0, 0.5, 0.999])(
    'when the token service hangs (draw %d), then it responds within its limit, each time',
    async (draw) => {
      const clock = watchedClock()
      const tokens = createTokenManager({
        source: { id: 'hangs', obtain: () => new Promise(() => undefined) },
        clock,
        random: () => draw,
        exchangeTimeoutMs: given('exchangeTimeoutMs'),
        renewal: { background: false, maxWaitMs: given('maxWaitMs') },
      })
      const adapter = (config: InternalAxiosRequestConfig) =>
        Promise.resolve({ data: {}, status: 200, statusText: '', headers: {}, config })
      const api = axios.create({ baseURL: 'https://payments.example.com', timeout: given('timeout'), adapter })
      attachBearer(api, tokens)
      for (let call = 0; call < 5; call += 1) {
        const began = clock.monotonicNow()
        let tookMs = Infinity
        const handler = outcome(api.get('/orders/1').finally(() => tokens.settled())).then((end) => {
          tookMs = clock.monotonicNow() - began
          return end
        })
        for (let ms = 0; ms < 6_000 && tookMs === Infinity; ms += 50) {
          await clock.advance(50)
          await settle()
        }
        expect(await handler).toHaveProperty('message')
        expect(tookMs).toBeLessThan(LIMIT_MS)
        await clock.advance(1_000)
      }
      await tokens.close()
    },
  )
})
