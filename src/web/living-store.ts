import type { Clock } from '../core/clock.ts'
import { withinLimit } from '../core/deadline.ts'
import { randomHex } from '../core/digest.ts'
import { KEPT, type LeaseResult, NO_OTHERS, type Others } from '../core/lease.ts'
import type { OpenableStore, TokenRecord } from '../core/token-store.ts'
import { replyTo, isAlive } from './roll-call.ts'
import { stepsOf } from './steps-of.ts'

/** The parts of the Web Locks API that are used here. A lock is held until the promise from `held` settles. All are shared, so none waits for another. */
interface Locks {
  request(name: string, options: { readonly mode: 'shared' }, held: () => Promise<void> | undefined): Promise<unknown>
  /** Takes no lock, so no other page ever waits for it. */
  query(): Promise<{ readonly held: readonly { readonly name: string }[] }>
}

/** The prefix of the names of owners that hold a lock of the same name during each exchange. */
const LOCKED = 'axios-evergreen:'
/**
 * Followed by the key of an account: the name of the lock that an owner holds, and under which it replies, from its lease until the storage has the
 * new tokens.
 */
const EXCHANGING = `${LOCKED}exchanging:`
/** How long an owner still replies if it cannot store the new tokens, ms: its storage may never work again. */
const MAX_UNSTORED_MS = 60_000
/** How often other owners ask, ms. */
const ASK_MS = 1_000
/** How many times they ask a page that holds the lock, but does not reply. Not a duration, because that would include a sleep. */
const MAX_UNANSWERED = 10
/** Browsers respond at once. After this time, ms, the page proceeds without the lock, which would protect it during a sleep. */
const LOCK_TIMEOUT_MS = 1_000

/**
 * Wraps a store for browsers, where tabs die: the user reloads, leaves or closes them during an exchange. Each owner holds a Web Lock during its exchange,
 * and the browser releases the lock of a dead tab. So other tabs, and the next page, detect a dead owner, and need not wait until its lease expires. Nor do
 * they present the refresh token of a live owner whose lease expired in a sleep, or because the storage failed. Without Web Locks they wait.
 */
export function livingStore(store: OpenableStore): OpenableStore {
  const { locks } = (globalThis as { navigator?: { locks?: Locks } }).navigator ?? {}
  if (typeof locks?.request !== 'function') return store
  const acquire = acquiring(locks)
  const open: OpenableStore['open'] = (key, clock, reports) =>
    livingRecord(store.open(key, clock, reports), { locks, acquire, clock }, key)
  return Object.freeze({ ...store, open })
}

/** What an owner needs from its browser. */
interface Browser {
  readonly locks: Locks
  readonly acquire: ReturnType<typeof acquiring>
  readonly clock: Clock
}

function livingRecord(record: TokenRecord, browser: Browser, key: string | Promise<string>): TokenRecord {
  const leases = releasesOfLeases()
  const { keep, release: releaseOf } = leases
  const leased = leasing(record, browser, key, leases)
  return {
    ...stepsOf(record),
    acquire: (owner, seenVersion, ttlMs, terms) =>
      leased(owner, (name, others) => record.acquire(name, seenVersion, ttlMs, { ...terms, others })),
    acquireForLogout: (owner, seenVersion, ttlMs, ends) =>
      leased(owner, (name, others) => record.acquireForLogout(name, seenVersion, ttlMs, { ...ends, others })),
    async accept(lease, tokens) {
      const kept = await record.accept(lease, tokens)
      if (lease.isPrivate || kept.version > lease.version) releaseOf(lease.fence)
      else
        keep(
          lease.fence,
          browser.clock.setTimer(() => releaseOf(lease.fence), MAX_UNSTORED_MS),
        )
      return kept
    },
    // If the step fails, the exchange is over all the same, and its refresh token is in doubt for all owners.
    release: (lease, ...given) => record.release(lease, ...given).finally(() => releaseOf(lease.fence)),
    close() {
      leases.releaseAll()
      record.close?.()
    },
  }
}

/** @returns A function that requests a lease under the name of a lock that this owner holds. */
function leasing(
  record: TokenRecord,
  { locks, acquire, clock }: Browser,
  key: string | Promise<string>,
  { keep, releaseAll }: ReturnType<typeof releasesOfLeases>,
) {
  const life = `${LOCKED}${randomHex()}`
  const isExchanging = asking(locks, clock)

  /**
   * Gives up a lease whose refresh token is in doubt, and asks whether another owner is alive. If none is, requests a lease once more, which also reads
   * what was stored meanwhile.
   */
  async function unlessExchanging(
    first: LeaseResult,
    lease: (others: Others) => Promise<LeaseResult>,
  ): Promise<LeaseResult> {
    const dead = first.kind === 'busy' && first.by?.startsWith(LOCKED) ? first.by : undefined
    if (first.kind === 'granted' && first.isDoubted) await record.release(first, KEPT)
    // A free lock alone is no proof: after a user clears the data of the site, Chromium gives new pages a separate set of locks.
    else if (dead === undefined || (await isHeldIn(locks, clock, dead)) !== false) return first
    if (await isExchanging(EXCHANGING + (await key))) return { kind: 'busy', remainingMs: ASK_MS }
    return lease({ ...NO_OTHERS, dead })
  }

  /** @param lease Requests a lease under a name. */
  return async (owner: string, lease: (owner: string, others: Others) => Promise<LeaseResult>) => {
    // Acquired before the lease, or others could take this owner for dead. Shared, because an outdated exchange of this owner may still hold it.
    let release = await acquire(clock, life)
    const name = release ? life : owner
    try {
      const first = await lease(name, NO_OTHERS)
      // If the last `accept` failed, this lease request has repeated it: the tokens are stored.
      if (first.kind !== 'granted' || !first.isPrivate) releaseAll()
      const result = await unlessExchanging(first, (others) => lease(name, others))
      if (result.kind === 'granted' && release) {
        const exchanging = EXCHANGING + (await key)
        keep(result.fence, release, replyTo(exchanging, await acquire(clock, exchanging)))
        release = undefined
      }
      return result
    } finally {
      release?.()
    }
  }
}

/**
 * @returns A function that returns whether another owner may have the next token, or still wait for it. A page that holds the lock but does not reply is
 * frozen, or is waking up.
 */
function asking(locks: Locks, clock: Clock): (name: string) => Promise<boolean> {
  let unanswered = 0
  return async (name) => {
    const isLocked = await isHeldIn(locks, clock, name)
    if (await isAlive(name, clock)) return true
    unanswered = isLocked ? (unanswered + 1) % MAX_UNANSWERED : 0
    return unanswered > 0
  }
}

/** The functions to call at the end of a lease, by its fence. */
function releasesOfLeases() {
  const held = new Map<number, (() => void)[]>()
  function release(fence: number): void {
    const releases = held.get(fence)
    held.delete(fence)
    releases?.forEach((releaseOne) => releaseOne())
  }
  return {
    keep: (fence: number, ...more: (() => void)[]) => void held.set(fence, [...(held.get(fence) ?? []), ...more]),
    release,
    releaseAll: () => held.forEach((_, fence) => release(fence)),
  }
}

/** Whether a page of this browser, even a frozen one, holds a lock of that name. Undefined: the browser does not report it. */
async function isHeldIn(locks: Locks, clock: Clock, name: string): Promise<boolean | undefined> {
  const found = await inTime(clock, locks.query(), () => undefined)
  return found?.held.some((lock) => lock.name === name)
}

/** Undefined: the browser denies it, or does not respond. */
function inTime<Value>(clock: Clock, work: Promise<Value>, atLimit: () => unknown): Promise<Value | undefined> {
  return withinLimit(work, { clock, ms: LOCK_TIMEOUT_MS, atLimit }).catch(() => undefined)
}

/**
 * If the browser has not responded to a request for a lock in time, later requests get no lock, and do not wait, until it responds again (F357).
 *
 * @returns A function that acquires a lock: it returns the function that releases it; undefined if there is no lock in time.
 */
function acquiring(locks: Locks): (clock: Clock, name: string) => Promise<(() => void) | undefined> {
  let isSilent = false
  return async (clock, name) => {
    let isLate = isSilent
    if (isLate) return undefined
    const release = new Promise<() => void>((resolve, reject) => {
      const held = () => {
        isSilent = false
        return isLate ? undefined : new Promise<void>(resolve)
      }
      locks.request(name, { mode: 'shared' }, held).catch(reject)
    })
    return inTime(clock, release, () => (isLate = isSilent = true))
  }
}
