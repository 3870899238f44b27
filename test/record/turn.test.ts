import { expect, it } from '@jest/globals'
import type { LeaseResult } from '../../src/core/lease.ts'
import { OTHER_OWNERS } from '../../src/record/other-owners.ts'
import type { Turn } from '../../src/core/token-store.ts'

it('given a renewal that waits for another owner, when it finds a newer token set that it cannot use, then its next polls come no sooner than before', async () => {
  const busy: LeaseResult = { kind: 'busy', remainingMs: 15_000 }
  const tokens = { version: 7, accessToken: 'unfit', accessLifetimeMs: 60_000, accessRemainingMs: 0 }
  const granted = { kind: 'granted', isPrivate: true } as LeaseResult
  const leases = [busy, busy, busy, { kind: 'newer', tokens } as const, busy, busy, granted]
  const delays: number[] = []
  const pauses = { for: async (ms: number) => void delays.push(ms), end: () => undefined, check: () => undefined }
  const settings = { source: {}, record: {}, tokenClock: { now: () => 0 }, exchangeTimeoutMs: 10_000 }
  const turn = {
    account: { credentialsDigest: 'none', settings: { ...settings, renewal: { maxStalenessMs: 0 }, random: () => 0 } },
    pauses,
    tryAcquire: () => Promise.resolve(leases.shift()!),
    mayAdopt: () => false,
    start: { isAwaited: () => true },
    seenVersion: 0,
  } as unknown as Turn
  expect(await OTHER_OWNERS.takeTurn(turn)).toBe(granted)
  expect([delays, turn.seenVersion]).toEqual([[250, 500, 1_000, 1_000, 1_000], 7])
})
