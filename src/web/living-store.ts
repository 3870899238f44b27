import type { Clock } from '../core/clock.ts'
import { randomHex } from '../core/digest.ts'
import { KEPT, type LeaseResult, NO_OTHERS, type Others } from '../core/lease.ts'
import type { OpenableStore, TokenRecord } from '../core/token-store.ts'
import { replyTo, isAlive } from './roll-call.ts'

/**
 * The parts of the Web Locks API that are used here. `held` gets null if the lock is not available. The lock is held until the returned promise has settled.
 */
interface Locks {
  request<Value>(
    name: string,
    options: { readonly mode: 'shared' | 'exclusive'; readonly ifAvailable: true },
    held: (lock: unknown) => Value | Promise<Value>,
  ): Promise<Value>
}

/** The prefix of owners that hold a lock of their name during each exchange. */
const LOCKED = 'axios-evergreen:'
/** The prefix of the key of an account, as the name of its owner from the lease until the storage has the response. */
const EXCHANGING = `${LOCKED}exchanging:`
/** How long other owners wait for such an owner, ms: its storage may never work again. They ask this often. */
const MAX_EXCHANGE_MS = 60_000
const ASK_MS = 1_000
/** A browser responds immediately to a request with `ifAvailable`. After this time, ms, the page proceeds without the lock, which only saves time. */
const LOCK_TIMEOUT_MS = 1_000

/**
 * Wraps a store for browsers, where tabs die: the user reloads, navigates or closes them during an exchange. Each owner holds a Web Lock during its exchange,
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
  /** Its lock alone is no proof: after a user clears the data of the site, Chromium gives new pages a separate set of locks. */
  const hasDied = async (owner: string) => (await isUnlocked(owner, acquire)) && !(await isExchanging())

  /** @param lease Requests a lease under a name. */
  async function leased(owner: string, ttlMs: number, lease: (owner: string, others: Others) => Promise<LeaseResult>) {
    // Before the lease is written: no owner may find the lease of a living owner without its lock. Shared, because an outdated exchange may be in flight.
    const release = await acquire(life, 'shared')
    const name = release ? life : owner
    let isKept = false
    try {
      const first = await lease(name, NO_OTHERS)
      // This request has repeated the step that did not store the last response.
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
    ...withoutLease(record),
    close() {
      releaseAll()
      record.close?.()
    },
  }
}

/** The steps that need no lease. */
function withoutLease(record: TokenRecord): Omit<TokenRecord, 'acquire' | 'acquireForLogout' | 'accept' | 'release'> {
  return {
    adopt: (...given) => record.adopt(...given),
    clear: (...given) => record.clear(...given),
    check: (...given) => record.check?.(...given) ?? Promise.resolve(undefined),
    watch: (onChange) => record.watch?.(onChange),
  }
}

/** Another owner may have the successor of a refresh token in doubt, or wait for it: its lease has expired because of its storage, or of a sleep. */
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

/** While the browser has not responded to a request in time, later requests do not wait (F357). */
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
