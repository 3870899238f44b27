import { describe, expect, it } from '@jest/globals'
import axios, { AxiosError, type InternalAxiosRequestConfig } from 'axios'
import { readFileSync } from 'node:fs'
import { attachBearer, createTokenManager } from '../../src/index.ts'
import { outcome } from '../support/managed.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'

const page = readFileSync('docs/serverless.md', 'utf8')
/** The number that the sample gives to an option. */
const given = (option: string) => Number(new RegExp(`${option}: ([\\d_]+)`).exec(page)![1]!.replaceAll('_', ''))
const LIMIT_MS = 3_000

const SIGNAL_MS = Number(/AbortSignal\.timeout\(([\d_]+)\)/.exec(page)![1]!.replaceAll('_', ''))

describe('F430: given the sample of the serverless page, for a function with a limit of 3 s', () => {
  it.each([0, 0.5, 0.999].flatMap((draw) => [undefined, 5, 600, 1_300, 1_800].map((apiMs) => [draw, apiMs] as const)))(
    'when the token service hangs (draw %d; the API refuses the token after %s ms), then it responds within its limit, each time',
    async (draw, apiMs) => {
      const clock = watchedClock()
      let obtained = 0
      const tokens = createTokenManager({
        source: {
          id: 'hangs',
          // The API refuses the first token, and no other one is issued.
          obtain: () =>
            apiMs !== undefined && (obtained += 1) === 1
              ? Promise.resolve({ accessToken: 'AT', accessLifetimeMs: 3_600_000 })
              : new Promise(() => undefined),
        },
        clock,
        random: () => draw,
        exchangeTimeoutMs: given('exchangeTimeoutMs'),
        renewal: { background: false, maxWaitMs: given('maxWaitMs') },
      })
      const adapter = async (config: InternalAxiosRequestConfig) => {
        await new Promise<void>((resolve) => void clock.setTimer(resolve, apiMs ?? 0))
        const response = { data: {}, status: 401, statusText: '', headers: {}, config }
        throw new AxiosError('refused', 'ERR_BAD_REQUEST', config, null, response)
      }
      const api = axios.create({ baseURL: 'https://payments.example.com', adapter })
      attachBearer(api, tokens)
      for (let call = 0; call < 5; call += 1) {
        const began = clock.monotonicNow()
        let tookMs = Infinity
        const limit = new AbortController()
        clock.setTimer(() => limit.abort(), SIGNAL_MS)
        const handler = outcome(api.get('/orders/1', { signal: limit.signal }).finally(() => tokens.settled())).then(
          (end) => {
            tookMs = clock.monotonicNow() - began
            return end
          },
        )
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
