import { describe, expect, it } from '@jest/globals'
import { type Decide, type Lease, type Next, type ReleaseResult, RESERVE_MS } from '../../src/core/lease.ts'
import type { StoredTokens } from '../../src/core/stored-tokens.ts'
import type { OpenableStore, TokenRecord } from '../../src/core/token-store.ts'
import type { TokenStore } from '../../src/index.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { withActs } from './with-acts.ts'

const PAIR: Omit<StoredTokens, 'version'> = {
  accessToken: 'access-1',
  accessLifetimeMs: 60_000,
  accessRemainingMs: 59_000,
  refreshToken: 'refresh-1',
  refreshRemainingMs: 3_599_000,
}
const NO_REPORTS = { anomaly: () => undefined, storeUnavailable: () => undefined }
const COOL_DOWN = {
  kind: 'cool-down',
  ms: 5_000,
  failures: 2,
  isFirm: true,
  code: 'ERR_THROTTLED',
  status: 429,
} as const
const NEXT = { ...PAIR, accessToken: 'access-2', refreshToken: 'refresh-2' }
const TTL_MS = 15_000

function worldOf(create: (clock: ManualClock) => TokenStore) {
  const open = () => {
    const clock = manualClock()
    const store = create(clock) as OpenableStore
    const openKey = (key: string) => withActs(store.open(key, clock, NO_REPORTS), clock)
    return { clock, openKey, record: openKey('account') }
  }
  const holdingPair = async () => {
    const world = open()
    await world.record.accept(await granted(world.record), PAIR)
    return world
  }
  return { open, holdingPair }
}

/** Acquires as an owner that has seen the stored version. */
async function granted(record: TokenRecord, owner = 'a', seenVersion = 0): Promise<Lease> {
  const lease = await record.acquire(owner, seenVersion, TTL_MS)
  if (lease.kind === 'newer') return granted(record, owner, lease.tokens.version)
  expect(lease.kind).toBe('granted')
  return lease as Lease
}

/** What a store promises if its owners are separate processes: one may stall in its exchange, and the store may lose writes. */
export function sharedStoreContract(name: string, create: (clock: ManualClock) => TokenStore): void {
  tokenStoreContract(name, create)
  const { holdingPair } = worldOf(create)

  describe(`given the ${name} store, and owners that stall`, () => {
    it('when the owner of an expired lease arrives late with a token set, then it is stored and ends the doubt', async () => {
      const { record, clock } = await holdingPair()
      const late = await granted(record)
      await clock.advance(TTL_MS)
      const lease = await granted(record, 'b')
      expect(await record.accept(late, NEXT)).toEqual({ ...NEXT, version: 2 })
      expect(await record.acquire('c', 2, TTL_MS)).toMatchObject({ kind: 'busy' })
      expect(await record.release(lease, { fate: 'keep' })).toMatchObject({
        contested: true,
        newer: { accessToken: 'access-2' },
      })
      expect(await granted(record)).toMatchObject({ presentable: true })
    })

    it('when a refresh token is rejected, and a newer token set exists, then the newer one stays valid', async () => {
      const { record, clock } = await holdingPair()
      const late = await granted(record)
      await clock.advance(TTL_MS)
      const lease = await granted(record, 'b')
      await record.accept(late, NEXT)
      await record.release(lease, { fate: 'dead' })
      expect(await granted(record)).toMatchObject({ presentable: true, presentations: 0, isDoubted: false })
    })

    it('when an owner has seen a newer version, then no owner gets the older token set any more', async () => {
      const { record } = await holdingPair()
      const lease = await granted(record, 'a', 5)
      expect(lease).toMatchObject({ version: 5, presentable: false })
      expect(lease.tokens).toBeUndefined()
      expect(await record.accept(lease, NEXT)).toMatchObject({ version: 6 })
    })
  })
}

/** What every store promises, including one in the memory of one process (design: claim and settle). */
export function tokenStoreContract(name: string, create: (clock: ManualClock) => TokenStore): void {
  const { open, holdingPair } = worldOf(create)

  describe(`given the ${name} store`, () => {
    it('when it is empty, then a lease is granted with nothing to present', async () => {
      expect(await granted(open().record)).toMatchObject({ presentable: false, presentations: 0 })
    })

    it('when tokens are accepted, then an owner that has not seen them adopts them, aged by the store', async () => {
      const { record, clock } = await holdingPair()
      await clock.advance(1_000)
      const aged = { accessRemainingMs: 58_000, refreshRemainingMs: 3_598_000 }
      expect(await record.acquire('b', 0, TTL_MS)).toEqual({ kind: 'newer', tokens: { ...PAIR, ...aged, version: 1 } })
    })

    it('when tokens are accepted, then an owner that has seen them is granted the next exchange with them', async () => {
      const { record } = await holdingPair()
      expect(await granted(record, 'a', 1)).toMatchObject({ presentable: true, tokens: { ...PAIR, version: 1 } })
    })

    it('when a lease is granted, then others are busy until it is released', async () => {
      const { record, clock } = await holdingPair()
      const lease = await granted(record)
      await clock.advance(1_000)
      expect(await record.acquire('b', 1, TTL_MS)).toMatchObject({ kind: 'busy', remainingMs: TTL_MS - 1_000 })
      await record.release(lease, { fate: 'keep' })
      expect(await granted(record, 'b')).toMatchObject({ presentable: true })
    })

    it('when a lease has expired, then its refresh token is in doubt for the next owner', async () => {
      const { record, clock } = await holdingPair()
      await granted(record)
      await clock.advance(TTL_MS - 1)
      expect(await record.acquire('b', 1, TTL_MS)).toMatchObject({ kind: 'busy', remainingMs: 1 })
      await clock.advance(1)
      expect(await granted(record, 'b')).toMatchObject({ presentable: false })
    })

    it('when an owner decides its report in a callback, then the callback receives the current record, and the record follows the report', async () => {
      const { record, clock } = await holdingPair()
      const late = await granted(record)
      await clock.advance(TTL_MS)
      const lease = await granted(record, 'b')
      const found: ReleaseResult[] = []
      const deciding =
        (shared?: Next): Decide =>
        (said) => {
          found.push(said)
          return { fate: 'dead', shared }
        }
      await record.release(lease, deciding({ kind: 'retry', ms: 500 }))
      expect(await record.acquire('c', 1, TTL_MS)).toEqual({ kind: 'busy', remainingMs: 500 + RESERVE_MS })
      await record.release(late, deciding(COOL_DOWN))
      expect(await granted(record, 'b', 1)).toMatchObject({ presentable: false })
      expect(found).toEqual([{ contested: false }, { contested: true }])
    })

    it('when a lease has expired, then its refresh token is presentable within the grace of the service, and then no more', async () => {
      const { record, clock } = await holdingPair()
      await granted(record)
      await clock.advance(TTL_MS)
      const lease = await record.acquire('b', 1, TTL_MS, { graceMs: TTL_MS + 1 })
      expect(lease).toMatchObject({ presentable: true, isDoubted: true })
      await record.release(lease as Lease, { fate: 'doubtful' })
      await clock.advance(1)
      // The grace counts from the first doubt, not from the last.
      expect(await record.acquire('b', 1, TTL_MS, { graceMs: TTL_MS + 1 })).toMatchObject({ presentable: false })
    })

    it('when a lease has expired, then a reusable refresh token is not in doubt', async () => {
      const { record, clock } = await holdingPair()
      await granted(record)
      await clock.advance(TTL_MS)
      const lease = await record.acquire('b', 1, TTL_MS, { graceMs: Infinity })
      expect(lease).toMatchObject({ presentable: true, isDoubted: false })
      await record.release(lease as Lease, { fate: 'dead' })
      expect(await record.acquire('b', 1, TTL_MS, { graceMs: Infinity })).toMatchObject({ presentable: false })
    })

    it('when a cool-down is not firm, then a lease may end it', async () => {
      const { record } = await holdingPair()
      const terms = { breaksCoolDown: true }
      await record.release(await granted(record), { fate: 'keep', shared: { ...COOL_DOWN, isFirm: false } })
      expect(await record.acquire('b', 1, TTL_MS)).toMatchObject({ kind: 'cooling' })
      const lease = await record.acquire('b', 1, TTL_MS, terms)
      expect(lease).toMatchObject({ kind: 'granted', failures: 2 })
      await record.release(lease as Lease, { fate: 'keep', shared: COOL_DOWN })
      expect(await record.acquire('b', 1, TTL_MS, terms)).toMatchObject({ kind: 'cooling' })
    })

    it('when tokens are adopted, then all owners get them, and earlier leases have no effect any more', async () => {
      const { record } = await holdingPair()
      const before = await granted(record)
      const adopted = await record.adopt(1, NEXT)
      expect(adopted).toMatchObject(NEXT)
      const third = { ...NEXT, accessToken: 'access-3' }
      expect(await record.accept(before, third)).toEqual(adopted)
      expect(await record.acquire('b', 1, TTL_MS)).toEqual({ kind: 'newer', tokens: adopted })
      expect(await granted(record, 'b')).toMatchObject({ presentable: true, tokens: adopted })
    })

    it('when a login is adopted again with its first refresh token, or with one that it has spent, then nothing changes (F348)', async () => {
      const { record } = open()
      await record.adopt(0, PAIR)
      const stored = await record.accept(await granted(record), NEXT)
      for (const refreshToken of ['refresh-1', 'refresh-2'])
        expect(await record.adopt(stored.version, { ...PAIR, refreshToken })).toEqual({
          ...stored,
          known: 'same',
        })
      expect(await granted(record, 'b')).toMatchObject({ presentable: true, tokens: stored })
    })

    it('when a refresh token of a replaced login is adopted, then the later login stays (F348)', async () => {
      const { record } = open()
      const first = await record.adopt(0, PAIR)
      const later = await record.adopt(first.version, NEXT)
      expect(await record.adopt(later.version, PAIR)).toEqual({ ...later, known: 'replaced' })
      expect(await granted(record, 'b')).toMatchObject({ tokens: later })
    })

    it('when a refresh token of an ended login is adopted, then no user is logged in (F348)', async () => {
      const { record } = open()
      const { version } = await record.adopt(0, PAIR)
      await record.clear(version)
      expect(await record.adopt(version, PAIR)).toMatchObject({ known: 'ended' })
      expect(await granted(record, 'b', version)).toMatchObject({ presentable: false })
    })

    it('when tokens are adopted, then they end the cool-down of an account that waits for a login', async () => {
      const { record } = open()
      const rest = { ...COOL_DOWN, ms: Infinity, code: 'ERR_LOGIN_REQUIRED' } as const
      await record.release(await granted(record), { fate: 'keep', shared: rest })
      expect(await record.acquire('b', 0, TTL_MS)).toMatchObject({ kind: 'cooling', coolDown: { ms: Infinity } })
      await record.adopt(0, PAIR)
      expect(await record.acquire('b', 0, TTL_MS)).toMatchObject({ kind: 'newer', tokens: PAIR })
    })

    it("when a token set arrives later than that of the next owner, then the later owner's token set is adopted", async () => {
      const { record, clock } = await holdingPair()
      const late = await granted(record)
      await clock.advance(TTL_MS)
      await record.accept(await granted(record, 'b'), NEXT)
      expect(await record.accept(late, { ...NEXT, accessToken: 'too late' })).toMatchObject({ accessToken: 'access-2' })
    })

    it('when the owner of an expired lease releases it late, then nothing changes', async () => {
      const { record, clock } = await holdingPair()
      const late = await granted(record)
      await clock.advance(TTL_MS)
      const lease = await granted(record, 'b')
      expect(await record.release(late, { fate: 'counted', shared: COOL_DOWN })).toEqual({ contested: true })
      expect(await record.acquire('c', 1, TTL_MS)).toMatchObject({ kind: 'busy' })
      await record.release(lease, { fate: 'keep' })
      expect(await granted(record, 'c')).toMatchObject({ presentations: 0 })
    })

    it.each([
      ['keep', true, 0],
      ['counted', true, 1],
      ['doubtful', false, 0],
      ['dead', false, 0],
    ] as const)(
      'when a lease is released with %s, then presentable is %s, presentations %i',
      async (fate, presentable, presentations) => {
        const { record } = await holdingPair()
        await record.release(await granted(record), { fate })
        expect(await granted(record)).toMatchObject({ presentable, presentations })
      },
    )

    it('when a new token set is accepted, then doubt and presentations end', async () => {
      const { record } = await holdingPair()
      await record.release(await granted(record), { fate: 'counted' })
      await record.release(await granted(record), { fate: 'dead' })
      await record.accept(await granted(record), NEXT)
      expect(await granted(record)).toMatchObject({ presentable: true, presentations: 0 })
    })

    it('when a lease is released with a cool-down, then all owners wait, and an accepted token set ends it', async () => {
      const { record, clock } = await holdingPair()
      await record.release(await granted(record), { fate: 'keep', shared: COOL_DOWN })
      await clock.advance(4_999)
      const cooling = { kind: 'cooling', coolDown: { ...COOL_DOWN, ms: 1 } }
      expect(await record.acquire('b', 1, TTL_MS)).toEqual(cooling)
      await clock.advance(1)
      const probe = await granted(record, 'b')
      expect(probe.failures).toBe(2)
      await record.accept(probe, NEXT)
      expect(await granted(record)).toMatchObject({ failures: 0 })
    })

    it('when a lease is released with a stop, then no owner has the tokens any more, and all stop until it is cleared', async () => {
      const { record, clock } = await holdingPair()
      await record.release(await granted(record), {
        fate: 'dead',
        shared: {
          ...COOL_DOWN,
          ms: Infinity,
          code: 'ERR_SUSPICIOUS_REFRESH_TOKEN',
        },
        drops: true,
      })
      await clock.advance(10 * 24 * 3_600_000)
      expect(await record.acquire('b', 1, TTL_MS)).toMatchObject({ kind: 'cooling', coolDown: { ms: Infinity } })
      expect(await record.acquire('new', 0, TTL_MS)).toMatchObject({ kind: 'cooling' })
      await record.clear(1)
      await granted(record, 'b')
    })

    it('when its owner intends to retry, then others are busy until a moment after that, and nothing is in doubt', async () => {
      const { record } = await holdingPair()
      await record.release(await granted(record), { fate: 'counted', shared: { kind: 'retry', ms: 500 } })
      expect(await record.acquire('b', 1, TTL_MS)).toEqual({ kind: 'busy', remainingMs: 500 + RESERVE_MS })
      expect(await granted(record)).toMatchObject({ presentable: true, presentations: 1 })
    })

    it('when an owner that intends to retry does not return, then another owner is granted the released lease', async () => {
      const { record, clock } = await holdingPair()
      await record.release(await granted(record), { fate: 'keep', shared: { kind: 'retry', ms: 500 } })
      await clock.advance(500 + RESERVE_MS)
      expect(await granted(record, 'b')).toMatchObject({ presentable: true })
    })

    it('when an owner acquires again without releasing, then the refresh token is in doubt', async () => {
      const { record } = await holdingPair()
      await granted(record)
      expect(await granted(record)).toMatchObject({ presentable: false })
    })

    it('when tokens carry no refresh token, then nothing is presentable', async () => {
      const { record } = open()
      const { accessToken, accessLifetimeMs, accessRemainingMs } = PAIR
      await record.accept(await granted(record), { accessToken, accessLifetimeMs, accessRemainingMs })
      const lease = await granted(record)
      expect(lease.presentable).toBe(false)
      expect(lease.tokens).toMatchObject({ accessToken, accessLifetimeMs, accessRemainingMs, version: 1 })
      expect(lease.tokens!.refreshToken).toBeUndefined()
    })

    it('when it is cleared, then tokens, leases and cool-downs are gone and versions continue', async () => {
      const { record } = await holdingPair()
      await record.release(await granted(record), { fate: 'keep', shared: COOL_DOWN })
      await record.clear(1)
      const lease = await granted(record, 'b')
      expect(lease.tokens).toBeUndefined()
      expect(await record.accept(lease, NEXT)).toMatchObject({ version: 3 })
    })

    it('when it is cleared by an owner that has seen a newer version, then leases of that version are outdated too', async () => {
      const { record } = await holdingPair()
      const lease = await granted(record, 'a', 5)
      const copy = { ...lease, version: 9 }
      await record.clear(9)
      await record.accept(copy, NEXT)
      expect((await granted(record, 'b', 0)).tokens).toBeUndefined()
    })

    it('when it is cleared during a lease, then only the owner of the lease gets the new token set', async () => {
      const { record } = await holdingPair()
      const lease = await granted(record)
      await record.clear(1)
      expect(await record.accept(lease, NEXT)).toMatchObject({ accessToken: 'access-2', version: lease.version })
      const next = await granted(record, 'b', 0)
      expect(next.tokens).toBeUndefined()
      expect(await record.accept(next, PAIR)).toMatchObject({ accessToken: 'access-1' })
      expect(await record.acquire('a', lease.version, TTL_MS)).toMatchObject({ kind: 'newer' })
    })

    it('when two keys are opened, then they share nothing; one key opened twice shares everything', async () => {
      const { openKey, record } = await holdingPair()
      expect((await granted(openKey('other'))).tokens).toBeUndefined()
      expect(await openKey('account').acquire('b', 0, TTL_MS)).toMatchObject({ kind: 'newer' })
      await granted(record)
    })
  })
}
