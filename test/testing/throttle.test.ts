import { describe, expect, it } from '@jest/globals'
import { slidingWindow } from '../../tools/testing/throttle.ts'
import { obtainAsClient, obtainAsLogin, refresh, standAt, startWorld, verdict } from './world.ts'

describe('given two requests allowed in 1000 ms', () => {
  it('when requests keep coming, then one is allowed once the second last allowed one is 1000 ms old', () => {
    const waitMs = slidingWindow({ calls: 2, windowMs: 1000 })
    const waits = [5000, 5400, 5401, 5999, 6000, 6000, 6399, 6400, 6401].map((now) => waitMs(now))
    expect(waits).toEqual([0, 0, 599, 1, 0, 400, 1, 0, 599])
  })

  it('when the clock is set back, then requests in what is now the future do not count', () => {
    const waitMs = slidingWindow({ calls: 1, windowMs: 1000 })
    expect([waitMs(9000), waitMs(9001), waitMs(5000), waitMs(5001)]).toEqual([0, 999, 0, 999])
  })
})

describe('given a service that allows one token request in 2500 ms', () => {
  it.each([
    { later: 0, seconds: '3' },
    { later: 500, seconds: '2' },
    { later: 501, seconds: '2' },
    { later: 2499, seconds: '1' },
  ])('when the second arrives $later ms later, then it is throttled for $seconds s', async ({ later, seconds }) => {
    const service = await startWorld({ throttle: { calls: 1, windowMs: 2500 } })
    standAt(1_000_000)
    expect((await obtainAsClient(service)).status).toBe(200)
    standAt(1_000_000 + later)
    const second = await obtainAsLogin(service)
    expect(second.headers.get('retry-after')).toBe(seconds)
    expect(await verdict(second)).toEqual([429, 'throttled'])
    expect(await verdict(await refresh(service, 'any'))).toEqual([429, 'throttled'])
    standAt(1_002_500)
    expect((await obtainAsLogin(service)).status).toBe(200)
  })

  it('when requests meet faults that keep the service from acting, then they do not count; others do', async () => {
    const service = await startWorld({ throttle: { calls: 1, windowMs: 60_000 } })
    service.failNext('obtain', { status: 503 })
    service.failNext('obtain', { drop: 'before' })
    service.failNext('obtain', { corrupt: 'json' })
    expect((await obtainAsLogin(service)).status).toBe(503)
    await expect(obtainAsLogin(service)).rejects.toMatchObject({ message: 'fetch failed' })
    expect((await obtainAsLogin(service)).status).toBe(200)
    expect((await obtainAsLogin(service)).status).toBe(429)
  })

  it('when its own API is called, then that is not throttled', async () => {
    const service = await startWorld({ throttle: { calls: 1, windowMs: 60_000 } })
    for (let n = 0; n < 3; n += 1) expect((await fetch(service.baseUrl)).status).toBe(401)
    expect((await obtainAsLogin(service)).status).toBe(200)
  })
})
