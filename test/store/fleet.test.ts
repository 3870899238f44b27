import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createTokenManager, TokenError, type TokenSource } from '../../src/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { printFigure } from '../support/figure.ts'
import { outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { randomFrom } from '../support/random.ts'

// These tests make a hundred thousand errors, and their stacks would take most of the time.
Error.stackTraceLimit = 0

const MINUTE = 60_000
/** So that no two instants differ by a whole number of ms. */
const GOLDEN = 0.6180339887

/** A register that can be unreachable. */
class Register extends MemoryRegister {
  isAway = false

  override read(key: string) {
    return this.isAway ? Promise.reject(new Error('away')) : super.read(key)
  }
}

/** Processes of one account, each with its own store object, and a service that accepts a limited number of token requests a minute. */
function start(count: number, { perMinute = Infinity, lifetimeMs = 60 * MINUTE } = {}) {
  const clock = manualClock()
  const register = new Register(clock)
  /** When the calls of the last minute were accepted. */
  const accepted: number[] = []
  const calls: { at: number; isAccepted: boolean }[] = []
  let issued = 0
  const obtain: TokenSource['obtain'] = async () => {
    const at = clock.monotonicNow()
    while (accepted[0]! <= at - MINUTE) accepted.shift()
    const isAccepted = accepted.length < perMinute
    if (isAccepted) accepted.push(at)
    calls.push({ at, isAccepted })
    if (isAccepted) return { accessToken: `access-${(issued += 1)}`, accessLifetimeMs: lifetimeMs }
    throw new TokenError('ERR_THROTTLED', 'responded with 429', { status: 429, outcome: 'deferred' })
  }
  const source = { id: 'fleet', obtain }
  const random = randomFrom(358)
  const fleet = Array.from({ length: count }, () =>
    createTokenManager({ source, store: sharedStore(register), clock, random, renewal: { keepWarm: 'never' } }),
  )
  /** How many owners the record counts. */
  const counted = () => {
    const { value } = [...register.values.values()][0]!
    return (JSON.parse((JSON.parse(value) as { box: string }).box) as { owners?: number }).owners ?? 0
  }
  /** Every process needs a token, one after the other. @param together The number of processes that need one at once. */
  const askAll = async (together = 1, withinMs = 20_000) => {
    const answers: Promise<unknown>[] = []
    for (let n = 0; n < count; n += together) {
      answers.push(...fleet.slice(n, n + together).map((tokens) => outcome(tokens.getAccessToken())))
      await clock.advance((withinMs * together) / count + GOLDEN / 10)
    }
    return () => Promise.all(answers)
  }
  return { clock, register, calls, counted, askAll }
}

// The names of the owners are random, too, and decide their turns.
beforeEach(() => {
  const random = randomFrom(358)
  jest.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => {
    const { length } = bytes as unknown as Uint8Array
    for (let n = 0; n < length; n += 1) (bytes as unknown as Uint8Array)[n] = Math.floor(random() * 256)
    return bytes
  })
})

describe('given 2 000 processes of one account, and a service that accepts 70 token requests a minute', () => {
  it('when the store is away for 700 s as their token is due, then they make at most 1.5 times the calls that the service accepts (F358)', async () => {
    const { clock, register, calls, counted, askAll } = start(2_000, { perMinute: 70 })
    await askAll()
    await clock.advance(55 * MINUTE)
    await askAll()
    // Twice per token lifetime: half of the previous count is still included.
    expect([calls.length, Math.round(counted() / 1_000)]).toEqual([2, 3])
    await clock.advance(54 * MINUTE)
    const awayAt = clock.monotonicNow()
    register.isAway = true
    // Each process needs a token three times. With one request every 20 s the test would take three times as long, and show the same.
    while (clock.monotonicNow() < awayAt + 700_000) await askAll(20, 234_000)
    printFigure('token requests of 2 000 processes in 700 s without their store', `${calls.length - 2}`)
    expect(calls.length - 2).toBeLessThanOrEqual(1.5 * 70 * (700 / 60))
    // Waiting processes get a token as soon as the store is back, but those that the service has just throttled for the third time: after their pause (F417).
    register.isAway = false
    calls.length = 0
    await askAll(20)
    const refusedIn = async () => (await (await askAll(20))()).filter((answer) => typeof answer !== 'string').length
    expect(await refusedIn()).toBeLessThanOrEqual(2_000 * 0.02)
    await clock.advance(300_000)
    expect(await refusedIn()).toBe(0)
    // The service may throttle the first call.
    expect(calls.length).toBeLessThanOrEqual(5)
  }, 600_000)
})

describe('given a hundred processes of one account', () => {
  it('when the store is away as their token is due, then all have a token within seconds (F358)', async () => {
    const { clock, register, calls, askAll } = start(100)
    await askAll()
    await clock.advance(60 * MINUTE)
    await askAll()
    await clock.advance(60 * MINUTE)
    register.isAway = true
    const answers = await askAll(100)
    expect((await answers()).filter((answer) => typeof answer !== 'string')).toEqual([])
    expect(calls).toHaveLength(2 + 100)
  })
})
