import type { Clock } from '../core/clock.ts'
import { randomHex } from '../core/digest.ts'
import { KEPT, type LeaseResult, NO_OTHERS, type Others } from '../core/lease.ts'
import type { OpenableStore, TokenRecord } from '../core/token-store.ts'
import { replyTo, isAlive } from './roll-call.ts'
import { stepsOf } from './steps-of.ts'

/**
 * The parts of the Web Locks API that are used here. `held` receives null if the lock is not available. It is held until the promise from `held` settles.
 */
interface Locks {
  request<Value>(
    name: string,
    options: { readonly mode: 'shared' | 'exclusive'; readonly ifAvailable: true },
    held: (lock: unknown) => Value | Promise<Value>,
  ): Promise<Value>
}

/** The prefix in the names of owners that hold a lock of the same name during each exchange. */
const LOCKED = 'axios-evergreen:'
/** With the key of an account: the name under which an owner replies from its lease until the storage has the new tokens. */
const EXCHANGING = `${LOCKED}exchanging:`
/** The longest time that other owners wait for an owner that still replies, ms: its storage may never work again. */
const MAX_EXCHANGE_MS = 60_000
/** How often they ask, ms. */
const ASK_MS = 1_000
/** A browser responds immediately to a request with `ifAvailable`. After this time, ms, the page proceeds without the lock, which only saves time. */
const LOCK_TIMEOUT_MS = 1_000

/**
 * Wraps a store for browsers, where tabs die: the user reloads, leaves or closes them during an exchange. Each owner holds a Web Lock during its exchange,
 * and the browser releases the lock of a dead tab. So other tabs, and the next page, detect a dead owner, and need not wait until its lease expires. Without
 * Web Locks they wait.
 */
export function livingStore(store: OpenableStore): OpenableStore {
  const { locks } = (globalThis as { navigator?: { locks?: Locks } }).navigator ?? {}
  if (typeof locks?.request !== 'function') return store
  const acquire = acquiring(locks)
  const open: OpenableStore['open'] = (key, clock, reports) =>
    livingRecord(store.open(key, clock, reports), (...given) => acquire(clock, ...given), clock, key)
  return Object.freeze({ ...store, open })
}

function livingRecord(record: TokenRecord, acquire: Acquire, clock: Clock, key: string | Promise<string>): TokenRecord {
  const life = `${LOCKED}${randomHex()}`
  const { keep, release: releaseOf, releaseAll } = locksOfLeases(clock)
  const isExchanging = async () => isAlive(EXCHANGING + (await key), clock)
  /** A free lock alone is no proof: after a user clears the data of the site, Chromium gives new pages a separate set of locks. */
  const hasDied = async (owner: string) => (await isUnlocked(owner, acquire)) && !(await isExchanging())

  /** @param lease Requests a lease under a name. */
  async function leased(owner: string, ttlMs: number, lease: (owner: string, others: Others) => Promise<LeaseResult>) {
    // Acquired before the lease, or others could take this owner for dead. Shared, because an outdated exchange of this owner may still hold it.
    const release = await acquire(life, 'shared')
    const name = release ? life : owner
    let isKept = false
    try {
      const first = await lease(name, NO_OTHERS)
      // If the last `accept` failed, this lease request has repeated it: the tokens are stored.
      if (first.kind !== 'granted' || !first.isPrivate) releaseAll()
      const asked = await unlessExchanging(first, record, isExchanging)
      const dead = asked.kind === 'busy' && asked.by !== undefined && (await hasDied(asked.by)) ? asked.by : undefined
      // Once more if the owner whose exchange is in flight has died.
      const result = dead === undefined ? asked : await lease(name, { ...NO_OTHERS, dead })
      isKept = result.kind === 'granted'
      if (result.kind === 'granted' && release) keep(result.fence, ttlMs, release, replyTo(EXCHANGING + (await key)))
      return result
    } finally {
      if (!isKept) release?.()
    }
  }

  return {
    ...stepsOf(record),
    acquire: (owner, seenVersion, ttlMs, terms) =>
      leased(owner, ttlMs, (name, others) => record.acquire(name, seenVersion, ttlMs, { ...terms, others })),
    acquireForLogout: (owner, seenVersion, ttlMs, ends) =>
      leased(owner, ttlMs, (name, others) => record.acquireForLogout(name, seenVersion, ttlMs, { ...ends, others })),
    async accept(lease, tokens) {
      const kept = await record.accept(lease, tokens)
      if (lease.isPrivate || kept.version > lease.version) releaseOf(lease.fence)
      return kept
    },
    // If it fails, the exchange is over all the same, and its refresh token is in doubt for all owners.
    release: (lease, ...given) => record.release(lease, ...given).finally(() => releaseOf(lease.fence)),
    close() {
      releaseAll()
      record.close?.()
    },
  }
}

/**
 * Gives up a lease whose refresh token is in doubt while another owner may have the next token, or still wait for it. That owner's lease has expired because
 * its storage failed, or because the computer slept.
 */
async function unlessExchanging(
  result: LeaseResult,
  record: TokenRecord,
  isExchanging: () => Promise<boolean>,
): Promise<LeaseResult> {
  if (result.kind !== 'granted' || !result.isDoubted || !(await isExchanging())) return result
  await record.release(result, KEPT)
  return { kind: 'busy', remainingMs: ASK_MS }
}

/** The locks of leases, by their fences. */
function locksOfLeases(clock: Clock) {
  const held = new Map<number, () => void>()
  const release = (fence: number) => held.get(fence)?.()
  function keep(fence: number, ttlMs: number, releaseLock: () => void, stopReplying: () => void): void {
    // An expired lease blocks no owner, with or without a lock.
    const cancel = clock.setTimer(releaseLock, ttlMs)
    const cancelReplies = clock.setTimer(() => release(fence), MAX_EXCHANGE_MS)
    release(fence)
    held.set(fence, () => {
      cancel()
      cancelReplies()
      held.delete(fence)
      releaseLock()
      stopReplying()
    })
  }
  return { keep, release, releaseAll: () => held.forEach((releaseOne) => releaseOne()) }
}

/** @returns release; undefined if the lock is not available, or the browser denies it or does not respond */
type Acquire = (name: string, mode: 'shared' | 'exclusive') => Promise<(() => void) | undefined>

/** If the browser has not responded to a request in time, later requests do not wait until it responds again (F357). */
function acquiring(locks: Locks): (clock: Clock, ...given: Parameters<Acquire>) => ReturnType<Acquire> {
  let isSilent = false
  return async (clock, name, mode) => {
    if (isSilent) return undefined
    return new Promise((resolve) => {
      let isLate = false
      const cancel = clock.setTimer(() => {
        isLate = isSilent = true
        resolve(undefined)
      }, LOCK_TIMEOUT_MS)
      const respond = (lock: unknown) => {
        cancel()
        isSilent = false
        if (lock !== null && !isLate) return new Promise<void>((release) => resolve(release))
        resolve(undefined)
        return undefined
      }
      locks.request(name, { mode, ifAvailable: true }, respond).catch(() => respond(null))
    })
  }
}

/** Whether an owner that locks holds no lock. */
async function isUnlocked(owner: string, acquire: Acquire): Promise<boolean> {
  if (!owner.startsWith(LOCKED)) return false
  const release = await acquire(owner, 'exclusive')
  release?.()
  return release !== undefined
}
