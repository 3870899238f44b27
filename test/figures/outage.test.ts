import { describe, expect, it } from '@jest/globals'
import { createTokenManager, TokenError, type TokenSource } from '../../src/index.ts'
import { dice } from '../../scripts/lib/dice.mjs'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { part } from '../support/part.ts'

// These tests create a hundred thousand errors, and their stacks are not read.
Error.stackTraceLimit = 0

const MAX_WAIT_MS = 30_000
const DUE_MS = 45_000

/** What all draws of jitter and backoff may be: the lowest, the highest, or a mixture. */
const DRAWS: [string, () => () => number][] = [
  ...part<[string, () => () => number][]>(
    [
      ['the lowest draws', () => () => 0],
      ['the highest draws', () => () => 1 - Number.EPSILON],
    ],
    [],
  ),
  ['mixed draws', () => dice(7).random],
]
/** Instants in the life of a token, ms, at which outages begin. Later instants belong to the life of the next token. */
const SPARSE = [1, 10_000, 20_000, 30_000, 41_999, DUE_MS]
const STARTS = [...SPARSE, ...Array.from({ length: 21 }, (_, n) => 25_500 + n * 1_000), 42_001, DUE_MS - 1, DUE_MS + 1]

interface Outage {
  readonly startAt: number
  readonly durationMs: number
  readonly kind: 'fast' | 'black hole'
}

interface Felt {
  /** Calls that did not get their token at the instant of the call. */
  delayed: number
  failed: number
  longestWaitMs: number
  /** Failures without a code, or without the time of the next attempt. */
  mute: number
}

const unfelt: Felt = { delayed: 0, failed: 0, longestWaitMs: 0, mute: 0 }

/** A source whose service is down for a while. Its tokens contain the time of their issue. */
function downFor({ startAt, durationMs, kind }: Outage, now: () => number): TokenSource {
  return {
    id: 'a service that is down for a while',
    async obtain() {
      const at = now()
      if (at < startAt || at >= startAt + durationMs) return { accessToken: `at-${at}`, accessLifetimeMs: 60_000 }
      if (kind === 'black hole') return new Promise<never>(() => {})
      throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'responded with 503', {
        outcome: 'unknown-5xx',
        status: 503,
      })
    },
  }
}

/** Makes four calls a second with tokens of 60 s, from the beginning of an outage to half a minute after its end. */
async function live(outage: Outage, random: () => number): Promise<Felt> {
  const { startAt, durationMs } = outage
  const clock = manualClock()
  const begun = clock.monotonicNow()
  const source = downFor(outage, () => clock.monotonicNow() - begun)
  const tokens = createTokenManager({ source, clock, random })
  await tokens.getAccessToken()
  await clock.advance(startAt)
  const felt = { ...unfelt }
  const ask = async () => {
    const askedAt = clock.monotonicNow()
    try {
      await tokens.getAccessToken()
    } catch (error) {
      felt.failed += 1
      if (!(error instanceof TokenError && Number.isFinite(error.retryAt))) felt.mute += 1
    }
    const waitedMs = clock.monotonicNow() - askedAt
    if (waitedMs > 0) felt.delayed += 1
    felt.longestWaitMs = Math.max(felt.longestWaitMs, waitedMs)
  }
  const calls: Promise<void>[] = []
  for (let ms = 0; ms < durationMs + MAX_WAIT_MS; ms += 250) {
    if (tokens.peekAccessToken() === undefined) calls.push(ask())
    await clock.advance(250)
  }
  await clock.advance(MAX_WAIT_MS)
  await Promise.all(calls)
  return felt
}

/** @returns The worst that callers experience, wherever in the life of a token the outage begins. */
async function worst(
  durationMs: number,
  kind: Outage['kind'],
  draws: () => () => number,
  starts = STARTS,
): Promise<Felt> {
  const felt = { ...unfelt }
  for (const startAt of starts) {
    const one = await live({ startAt, durationMs, kind }, draws())
    for (const key of Object.keys(felt) as (keyof Felt)[]) felt[key] = Math.max(felt[key], one[key])
  }
  return felt
}

describe.each(DRAWS)('given tokens of 60 s, and an outage at any moment of their life (P4, %s)', (_, draws) => {
  it.each([4_000, 7_000])('when the service fails fast for %i ms, then no call fails or waits', async (ms) => {
    expect(await worst(ms, 'fast', draws)).toEqual(unfelt)
  })

  it.each([5_000, 10_000])('when the service is a black hole for %i ms, then no call fails', async (ms) => {
    expect(await worst(ms, 'black hole', draws)).toMatchObject({ failed: 0 })
  })

  it.each(['fast', 'black hole'] as const)(
    'when the service is down for longer (%s), then failing callers are rejected within 30 s, with the time of the next attempt',
    async (kind) => {
      const { failed, longestWaitMs, mute } = await worst(90_000, kind, draws, SPARSE)
      expect(failed).toBeGreaterThan(0)
      expect(longestWaitMs).toBeLessThanOrEqual(MAX_WAIT_MS)
      expect(mute).toBe(0)
    },
  )
})

describe.each(DRAWS)('given a service that is down for long, and callers who keep calling (P6, %s)', (_, draws) => {
  it.each(['fast', 'black hole'] as const)(
    'when it recovers (%s), then the first token arrives within 21 s',
    async (kind) => {
      // All outages share one clock: it waits after each step for the consequences, which takes most of the time of this test.
      const clock = manualClock()
      const begun = clock.monotonicNow()
      const outages = Array.from({ length: 61 }, (_, n) => {
        const durationMs = 60_000 + n * 1_000
        const source = downFor({ startAt: 0, durationMs, kind }, () => clock.monotonicNow() - begun)
        const manager = createTokenManager({ source, clock, random: draws() })
        return { durationMs, manager, asked: [] as Promise<string | undefined>[] }
      })
      for (let ms = 0; ms < 160_000; ms += 500) {
        for (const { durationMs, manager, asked } of outages)
          if (ms < durationMs + 40_000) asked.push(manager.getAccessToken().catch(() => undefined))
        await clock.advance(500)
      }
      const waits: number[] = []
      for (const { durationMs, manager, asked } of outages) {
        const first = (await Promise.all(asked)).find((token) => token !== undefined)
        await manager.close()
        waits.push(Number(first?.slice('at-'.length) ?? Infinity) - durationMs)
      }
      expect(Math.max(...waits)).toBeLessThanOrEqual(21_000)
      // Some of these outages must come near the worst case.
      expect(Math.max(...waits)).toBeGreaterThan(15_000)
    },
  )
})
