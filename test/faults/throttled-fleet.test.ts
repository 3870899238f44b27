import { describe, expect, it } from '@jest/globals'
import { createTokenManager, TokenError, type TokenManager, type TokenSource } from '../../src/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { outcome } from '../support/managed.ts'
import { share } from '../support/part.ts'
import { randomFrom } from '../support/random.ts'

/** A service that accepts `perMinute` token requests in any minute, and responds 429 without Retry-After to the others. */
class Throttling implements TokenSource {
  readonly id = 'throttling'
  readonly calls: number[] = []
  readonly #accepted: number[] = []
  readonly #clock: ManualClock
  readonly #perMinute: number
  readonly #draw: () => number
  readonly #lifetimeMs: number

  constructor(clock: ManualClock, perMinute: number, draw: () => number, lifetimeMs: number) {
    this.#clock = clock
    this.#perMinute = perMinute
    this.#draw = draw
    this.#lifetimeMs = lifetimeMs
  }

  async obtain() {
    const now = this.#clock.monotonicNow()
    this.calls.push(now)
    const mayPass = this.#accepted.filter((at) => at > now - 60_000).length < this.#perMinute
    if (mayPass) this.#accepted.push(now)
    await new Promise<void>((resolve) => this.#clock.setTimer(resolve, 20 + 400 * this.#draw()))
    if (!mayPass) throw new TokenError('ERR_THROTTLED', 'The token service responded with 429', { status: 429 })
    return { accessToken: `access-${now}`, accessLifetimeMs: this.#lifetimeMs }
  }

  /** How many requests arrived in each minute. */
  perMinute(start: number, minutes: number): number[] {
    const counts = Array.from({ length: minutes }, () => 0)
    for (const at of this.calls) counts[Math.floor((at - start) / 60_000)]! += 1
    return counts
  }
}

const gone = () => Promise.reject(new TypeError('fetch failed'))
const STORES = {
  'without a store': () => undefined,
  'with a store that throws': () => sharedStore({ kind: 'own', read: gone, replace: gone }),
}

/** Ten minutes in which each process sends a request every five seconds. */
async function tenMinutes(processes: number, perMinute: number, seed: number, store: keyof typeof STORES, s = 3_600) {
  const clock = manualClock()
  const draw = randomFrom(seed)
  const service = new Throttling(clock, perMinute, draw, s * 1_000)
  const start = clock.monotonicNow()
  const managers: TokenManager[] = Array.from({ length: processes }, () =>
    createTokenManager({ source: service, clock, random: draw, store: STORES[store](), renewal: { maxWaitMs: 4_000 } }),
  )
  for (const tokens of managers)
    for (const name of ['anomaly', 'storeUnavailable'] as const) tokens.on(name, () => undefined)
  for (let second = 0; second < 600; second += 5) {
    for (const tokens of managers) if (tokens.peekAccessToken() === undefined) void outcome(tokens.getAccessToken())
    await clock.advance(5_000)
  }
  const served = managers.filter((tokens) => tokens.peekAccessToken() !== undefined).length
  const closed = Promise.all(managers.map((tokens) => tokens.close()))
  await clock.advance(1_000)
  await closed
  return { minutes: service.perMinute(start, 10), served }
}

describe.each(Object.keys(STORES) as (keyof typeof STORES)[])(
  'F417: given processes %s, and a service that responds 429 without Retry-After',
  (store) => {
    it.each(share([100, store === 'without a store' ? 1_000 : 300], [100]))(
      'when there are %d, then from the second minute on they make at most 1.5 times the requests that the service accepts',
      async (processes) => {
        const perMinute = processes / 4
        const { minutes, served } = await tenMinutes(processes, perMinute, 417, store)
        expect(Math.max(...minutes.slice(1))).toBeLessThanOrEqual(1.5 * perMinute)
        expect(served).toBeGreaterThan(0.9 * processes)
      },
      120_000,
    )

    it.each(share([60, 120], [60]))(
      'when 100 processes have tokens of %d s, then at most twice: after a success, the responses of the last minutes still count',
      async (lifetimeS) => {
        const { minutes, served } = await tenMinutes(100, 25, 417, store, lifetimeS)
        const settled = minutes.slice(5)
        expect(settled.reduce((sum, count) => sum + count) / settled.length).toBeLessThanOrEqual(2 * 25)
        expect(served).toBeGreaterThan(10)
      },
      120_000,
    )

    it.each(share([1, 2, 3], [1]))(
      'when one process is alone for ten minutes (seed %d), then it makes at most 20 requests',
      async (seed) => {
        const { minutes } = await tenMinutes(1, 0, seed, store)
        const all = minutes.reduce((sum, count) => sum + count)
        expect(all).toBeLessThanOrEqual(20)
        expect(all).toBeGreaterThan(5)
      },
    )
  },
)
