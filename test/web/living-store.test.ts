import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { webStore } from '../../src/web/index.ts'
import { indexedDbOfSuite } from '../support/indexed-db-of-suite.ts'
import { type OwnRecord, withActs } from '../support/with-acts.ts'
import { fakeLocks } from '../support/web-locks.ts'

const TTL_MS = 15_000
const PAIR = { accessToken: 'access-1', accessLifetimeMs: 60_000, accessRemainingMs: 60_000, refreshToken: 'refresh-1' }
const reports = { anomaly: () => undefined, storeUnavailable: () => undefined }

const storage = indexedDbOfSuite()
let locks: ReturnType<typeof fakeLocks>
beforeEach(() => {
  locks = fakeLocks()
})
afterEach(() => {
  locks.remove()
  Reflect.deleteProperty(globalThis, 'document')
})

/** The record of an account in a page of its own. */
function pageRecord(clock = manualClock()) {
  return withActs((webStore() as OpenableStore).open('account', clock, reports), clock)
}

/** Acquires a lease, while the time passes in which a live owner responds. */
async function claimLater(record: OwnRecord, clock: ReturnType<typeof manualClock>, owner: string, version: number) {
  const answer = record.acquire(owner, version, TTL_MS)
  await clock.advance(1_000)
  return answer
}

describe('given a tab that dies in the middle of a refresh (F245)', () => {
  it('when the next page acquires a lease, then it does not wait, and the refresh token is in doubt', async () => {
    const clock = manualClock()
    const [one, next] = [pageRecord(), pageRecord(clock)]
    const { version } = await one.adopt(0, PAIR)
    expect(await one.acquire('one', version, TTL_MS)).toMatchObject({ kind: 'granted', presentable: true })
    expect(await next.acquire('next', version, TTL_MS)).toMatchObject({ kind: 'busy' })
    locks.die()
    const doubted = { kind: 'granted', isDoubted: true, presentable: false }
    expect(await claimLater(next, clock, 'next', version)).toMatchObject(doubted)
  })

  it('when only its lock is gone, because the user has cleared the site data, then it responds, and the next page waits (F324)', async () => {
    const clock = manualClock()
    const [one, next] = [pageRecord(), pageRecord(clock)]
    const { version } = await one.adopt(0, PAIR)
    const lease = await one.acquire('one', version, TTL_MS)
    locks.part()
    expect(await next.acquire('next', version, TTL_MS)).toMatchObject({ kind: 'busy' })
    expect([locks.channels, clock.pendingTimers]).toEqual([1, 0])
    if (lease.kind === 'granted') await one.release(lease, { fate: 'keep' })
    expect(locks.channels).toBe(0)
  })

  it('when two pages acquire a lease, then one of them waits for the other', async () => {
    const clock = manualClock()
    const [one, ...others] = [pageRecord(), pageRecord(clock), pageRecord(clock)]
    const { version } = await one.adopt(0, PAIR)
    await one.acquire('one', version, TTL_MS)
    locks.die()
    const claims = others.map((record, n) => record.acquire(`other ${n}`, version, TTL_MS))
    await clock.advance(1_000)
    const answers = await Promise.all(claims)
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['busy', 'granted'])
  })

  it('when its lock was denied, then it is not presumed dead', async () => {
    const [one, next] = [pageRecord(), pageRecord()]
    const { version } = await one.adopt(0, PAIR)
    locks.deny(true)
    await one.acquire('one', version, TTL_MS)
    locks.deny(false)
    expect(await next.acquire('next', version, TTL_MS)).toMatchObject({ kind: 'busy' })
  })

  it('when the next page may not query the locks, then it presumes no owner dead', async () => {
    const [one, next] = [pageRecord(), pageRecord()]
    const { version } = await one.adopt(0, PAIR)
    await one.acquire('one', version, TTL_MS)
    locks.die()
    locks.deny(true)
    expect(await next.acquire('next', version, TTL_MS)).toMatchObject({ kind: 'busy' })
  })

  it('when it had released its lease, with a pause before the next attempt, then the pause applies', async () => {
    const [one, next] = [pageRecord(), pageRecord()]
    const { version } = await one.adopt(0, PAIR)
    const lease = await one.acquire('one', version, TTL_MS)
    if (lease.kind === 'granted') await one.release(lease, { fate: 'keep', shared: { kind: 'retry', ms: 60_000 } })
    locks.die()
    expect(await next.acquire('next', version, TTL_MS)).toMatchObject({ kind: 'busy' })
  })
})

describe('given a tab whose storage is silent when the response to its refresh arrives (F356)', () => {
  /** The lease of the first page, whose response could not be stored: its lease has expired since, and the storage works again. */
  async function unstored() {
    const clock = manualClock()
    const [one, next] = [pageRecord(clock), pageRecord(clock)]
    const { version } = await one.adopt(0, PAIR)
    const lease = await one.acquire('one', version, TTL_MS)
    if (lease.kind !== 'granted') throw new Error(lease.kind)
    storage.trouble = () => 'never'
    const accepted = one.accept(lease, { ...PAIR, accessToken: 'access-2', refreshToken: 'refresh-2' })
    await clock.advance(TTL_MS + 1_000)
    const now = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => now + TTL_MS + 1_000)
    expect(await accepted).toMatchObject({ accessToken: 'access-2' })
    storage.trouble = () => undefined
    return { clock, one, next, version }
  }

  it('when another tab comes first, then it waits until the first tab has stored its tokens, and adopts them', async () => {
    const { clock, one, next, version } = await unstored()
    expect(await claimLater(next, clock, 'next', version)).toMatchObject({ kind: 'busy' })
    await one.acquire('one', version, TTL_MS)
    expect(await claimLater(next, clock, 'next', version)).toMatchObject({
      kind: 'newer',
      tokens: { accessToken: 'access-2', refreshToken: 'refresh-2' },
    })
    expect([locks.channels, locks.held]).toEqual([0, 0])
  })

  it('when the browser freezes the first tab, and still delivers messages to it, then the other one does not wait', async () => {
    const page = Object.assign(globalThis, { document: new EventTarget() })
    const { clock, next, version } = await unstored()
    page.document.dispatchEvent(new Event('freeze'))
    expect(await claimLater(next, clock, 'next', version)).toMatchObject({ kind: 'granted', isDoubted: true })
  })

  it('when the first tab is gone, then the other one does not wait: the refresh token is in doubt', async () => {
    const { clock, next, version } = await unstored()
    locks.die()
    expect(await claimLater(next, clock, 'next', version)).toMatchObject({ kind: 'granted', isDoubted: true })
  })

  it('when its storage never works again, then the other one waits for a minute at most', async () => {
    const { clock, next, version } = await unstored()
    await clock.advance(60_000)
    expect(await claimLater(next, clock, 'next', version)).toMatchObject({ kind: 'granted', isDoubted: true })
  })
})

describe('given a machine that slept during a refresh (F356)', () => {
  const NEXT = { ...PAIR, accessToken: 'access-2', refreshToken: 'refresh-2' }
  /** Both clocks count the sleep, so the lease of the first page has expired. */
  async function slept() {
    const clock = manualClock()
    const [one, next] = [pageRecord(clock), pageRecord(clock)]
    const { version } = await one.adopt(0, PAIR)
    const lease = await one.acquire('one', version, TTL_MS)
    if (lease.kind !== 'granted') throw new Error(lease.kind)
    const now = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => now + 3_600_000)
    await clock.advance(3_600_000)
    return { one, lease, later: () => claimLater(next, clock, 'next', version) }
  }

  it.each(['replies', 'stands still'])(
    'when another tab comes first, and the first one %s, then it waits',
    async (how) => {
      const { one, lease, later } = await slept()
      if (how === 'stands still') locks.freeze()
      expect(await later()).toMatchObject({ kind: 'busy' })
      await one.accept(lease, NEXT)
      expect(await later()).toMatchObject({ kind: 'newer' })
      expect([locks.channels, locks.held]).toEqual([0, 0])
    },
  )

  it('when the first tab stores its tokens while the other one asks, then the other one adopts them', async () => {
    const { one, lease, later } = await slept()
    locks.freeze()
    locks.beforeQuery = () => one.accept(lease, NEXT)
    expect(await later()).toMatchObject({ kind: 'newer', tokens: NEXT })
  })

  it('when the first tab stands still for ever, then the other one asks ten times', async () => {
    const { later } = await slept()
    locks.freeze()
    for (let asked = 1; asked < 10; asked += 1) expect(await later()).toMatchObject({ kind: 'busy' })
    expect(await later()).toMatchObject({ kind: 'granted', isDoubted: true })
  })
})

describe('given a live tab', () => {
  it.each(['accept', 'release'] as const)('when its exchange has ended with %s, then it holds no lock', async (end) => {
    const clock = manualClock()
    const one = pageRecord(clock)
    const { version } = await one.adopt(0, PAIR)
    const lease = await one.acquire('one', version, TTL_MS)
    expect(locks.held).toBe(2)
    if (lease.kind !== 'granted') throw new Error(lease.kind)
    await (end === 'accept'
      ? one.accept(lease, { ...PAIR, accessToken: 'access-2' })
      : one.release(lease, { fate: 'keep' }))
    expect([locks.held, clock.pendingTimers]).toEqual([0, 0])
  })

  it('when it logs in during an exchange, then it can acquire a lease at once, although it holds the lock', async () => {
    const one = pageRecord()
    await one.acquire('one', 0, TTL_MS)
    const { version } = await one.adopt(0, PAIR)
    expect(await one.acquire('one', version, TTL_MS)).toMatchObject({ kind: 'granted', presentable: true })
  })

  it('when another owner makes the exchange, or the storage fails, then it holds no lock', async () => {
    const [one, other] = [pageRecord(), pageRecord()]
    await one.acquire('one', 0, TTL_MS)
    await other.acquire('other', 0, TTL_MS)
    expect(locks.held).toBe(2)
  })
})

describe('given a wall clock that is set in the middle of a refresh (F323)', () => {
  const HOUR_MS = 3_600_000
  /** Sets the clock of the browser, as one page sees it. */
  function step(clock: ReturnType<typeof manualClock>, ms: number): void {
    const now = Date.now()
    jest.spyOn(Date, 'now').mockReturnValue(now + ms)
    clock.stepWall(ms)
  }

  it.each([HOUR_MS, -HOUR_MS])(
    'when another tab acquires a lease after a step of %s ms, then it waits for the first',
    async (ms) => {
      const clock = manualClock()
      const [one, other] = [pageRecord(), pageRecord(clock)]
      const { version } = await one.adopt(0, PAIR)
      await one.acquire('one', version, TTL_MS)
      step(clock, ms)
      expect(await other.acquire('other', version, TTL_MS)).toEqual({
        kind: 'busy',
        remainingMs: TTL_MS,
        by: expect.any(String),
      })
      locks.die()
      expect(await claimLater(other, clock, 'other', version)).toMatchObject({ kind: 'granted', isDoubted: true })
    },
  )

  it('when the first tab is frozen, then the other one waits for one lease at most', async () => {
    const page = Object.assign(globalThis, { document: new EventTarget() })
    const clock = manualClock()
    const [one, other] = [pageRecord(), pageRecord(clock)]
    const { version } = await one.adopt(0, PAIR)
    await one.acquire('one', version, TTL_MS)
    step(clock, HOUR_MS)
    expect(await other.acquire('other', version, TTL_MS)).toMatchObject({ kind: 'busy' })
    await clock.advance(TTL_MS)
    page.document.dispatchEvent(new Event('freeze'))
    expect(await claimLater(other, clock, 'other', version)).toMatchObject({ kind: 'granted', isDoubted: true })
  })
})

describe('given a browser whose navigator.locks gives no response (F357)', () => {
  it('when a page acquires leases repeatedly, then only the first attempt waits for a second, and proceeds without a lock', async () => {
    const clock = manualClock()
    locks.silence(true)
    const record = pageRecord(clock)
    const { version } = await record.adopt(0, PAIR)
    const first = record.acquire('one', version, TTL_MS)
    await clock.advance(1_000)
    const granted = await first
    expect(granted).toMatchObject({ kind: 'granted', presentable: true })
    if (granted.kind === 'granted') await record.release(granted, { fate: 'keep' })
    expect(await record.acquire('one', version, TTL_MS)).toMatchObject({ kind: 'granted' })
    expect([locks.held, clock.pendingTimers]).toEqual([0, 0])
  })

  it('when the response arrives late, then that lock is not held, and the next lease has one', async () => {
    const clock = manualClock()
    locks.silence(true)
    const record = pageRecord(clock)
    const first = record.acquire('one', 0, TTL_MS)
    await clock.advance(1_000)
    const granted = await first
    if (granted.kind === 'granted') await record.release(granted, { fate: 'keep' })
    locks.silence(false)
    await clock.advance(0)
    expect(locks.held).toBe(0)
    await record.acquire('one', 0, TTL_MS)
    expect(locks.held).toBe(2)
  })

  it('when it must determine whether another owner is alive, then it presumes none dead', async () => {
    const clock = manualClock()
    const [one, other] = [pageRecord(), pageRecord(clock)]
    const { version } = await one.adopt(0, PAIR)
    await one.acquire('one', version, TTL_MS)
    locks.silence(true)
    expect(await claimLater(other, clock, 'other', version)).toMatchObject({ kind: 'busy' })
  })
})
