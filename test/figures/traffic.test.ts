import { expect, it } from '@jest/globals'
import type { AxiosError } from 'axios'
import { startWorld } from '../support/service.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

it('an API that returns 401 to everything', async () => {
  const clock = manualClock()
  const { service, api, end } = await startWorld({ manager: { clock } })
  service.failNext('resource', { status: 401, body: 'the API’s own words' }, 2_000)
  for (let second = 0; second < 10; second += 1) {
    for (let batch = 0; batch < 10; batch += 1) {
      const before = service.count('resource')
      const calls = Array.from({ length: 10 }, () => api.get('/wallet').catch((error: unknown) => error as AxiosError))
      for (const error of await Promise.all(calls))
        expect(error).toMatchObject({ isAxiosError: true, response: { status: 401, data: 'the API’s own words' } })
      expect(service.count('resource') - before).toBeLessThanOrEqual(20)
      await clock.advance(100)
    }
  }
  expect(service.count('obtain')).toBeLessThanOrEqual(6)
  expect(service.count('resource')).toBeGreaterThan(1_000)
  await end()
})

it('when an API rejects a token right after it was obtained, then each of a hundred requests at once is replayed', async () => {
  const { service, api, end } = await startWorld()
  await api.get('/wallet')
  service.revokeAccessTokens()
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => api.post(`/payments/${n}`, { n })))
  expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200))
  expect([service.count('obtain'), service.count('resource')]).toEqual([2, 201])
  await end()
})

it('when ten thousand callers start cold at once, then the service sees one token request', async () => {
  const { service, tokens, end } = await startWorld()
  await Promise.all(Array.from({ length: 10_000 }, () => tokens.getAccessToken()))
  expect(service.count('obtain')).toBe(1)
  await end()
})
