import { describe, expect, it } from '@jest/globals'
import { startTokenService } from '../../tools/testing/index.ts'
import { startWorld } from './world.ts'

describe('given a wrong option', () => {
  it.each<[string, unknown, string, string]>([
    ['accessLifetimeMs', 0, 'RangeError', 'accessLifetimeMs must be above 0, at most 1e14, got 0'],
    ['lifetimeMs', 5, 'TypeError', "startTokenService has no option 'lifetimeMs'"],
    ['accessLifetimeMs', NaN, 'RangeError', 'got NaN'],
    ['accessLifetimeMs', 1.1e14, 'RangeError', 'got 110000000000000'],
    ['accessLifetimeMs', '60', 'TypeError', 'accessLifetimeMs must be a number, got 60'],
    ['refreshLifetimeMs', -1, 'RangeError', 'refreshLifetimeMs must be above 0, at most 1e14, got -1'],
    ['refreshLifetimeMs', Infinity, 'RangeError', 'got Infinity'],
    ['refreshLifetimeMs', 1.1e14, 'RangeError', 'got 110000000000000'],
    ['latencyMs', -1, 'RangeError', 'latencyMs must be from 0 to 2147483647, got -1'],
    ['latencyMs', 2 ** 31, 'RangeError', 'got 2147483648'],
    ['latencyMs', null, 'TypeError', 'latencyMs must be a number, got null'],
    ['clockOffsetMs', -Infinity, 'RangeError', 'clockOffsetMs must be from -5e13 to 5e13, got -Infinity'],
    ['clockOffsetMs', 1e14, 'RangeError', 'got 100000000000000'],
    ['port', -1, 'RangeError', 'port must be a whole number from 0 to 65535, got -1'],
    ['port', 65_536, 'RangeError', 'got 65536'],
    ['port', 80.5, 'RangeError', 'got 80.5'],
    ['throttle', null, 'TypeError', 'throttle.calls must be a number, got undefined'],
    ['throttle', 15, 'TypeError', 'throttle.calls must be a number, got undefined'],
    ['throttle', { calls: 0, windowMs: 1 }, 'RangeError', 'throttle.calls must be a whole number from 1'],
    ['throttle', { calls: 1.5, windowMs: 1 }, 'RangeError', 'got 1.5'],
    ['throttle', { calls: 1 }, 'TypeError', 'throttle.windowMs must be a number, got undefined'],
    ['throttle', { calls: 1, windowMs: 0 }, 'RangeError', 'throttle.windowMs must be above 0, got 0'],
  ])('when %s is %p, then starting fails with a %s that contains "%s"', async (option, value, name, message) => {
    const started = startTokenService({ [option]: value })
    await expect(started).rejects.toMatchObject({ name, message: expect.stringContaining(message) })
  })

  it('when the port is taken, then starting rejects with the reason', async () => {
    const { port } = new URL((await startWorld()).baseUrl)
    await expect(startTokenService({ port: Number(port) })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('given no option', () => {
  it('when two services start, then each has a port and credentials of its own', async () => {
    const [one, two] = await Promise.all([startWorld(), startWorld()])
    expect(one.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const parts = [one, two].flatMap(({ baseUrl, client, login }) => [
      baseUrl,
      ...Object.values({ ...client, ...login }),
    ])
    expect(new Set(parts).size).toBe(10)
  })
})

describe('given options at their limits', () => {
  it('when tokens are issued, then their instants can still be represented', async () => {
    const limits = { accessLifetimeMs: 1e14, refreshLifetimeMs: 1e14 }
    for (const clockOffsetMs of [-5e13, 5e13]) {
      const service = await startWorld({ ...limits, clockOffsetMs })
      const response = await fetch(`${service.baseUrl}/token/`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/vnd.api+json' },
        body: JSON.stringify({ data: { type: 'auth-token', attributes: service.login } }),
      })
      expect(await response.text()).toMatch(/"refresh_expired_at":"\d{4}-/)
      expect(Date.parse(response.headers.get('date')!)).not.toBeNaN()
    }
  })
})
