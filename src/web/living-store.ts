import type { Clock } from '../core/clock.ts'
import { randomHex } from '../core/digest.ts'
import { KEPT, type LeaseResult, type Lease, NO_OTHERS, type Others } from '../core/lease.ts'
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
/** The prefix of the key of an account, as the name of all owners that have new tokens which the storage does not have yet. */
const UNSTORED = `${LOCKED}unstored:`
/** How long other owners wait for such an owner, ms: its storage may never work again. They ask this often. */
const UNSTORED_MS = 60_000
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
  const { keep, release: releaseOf } = locksOfLeases(clock)
  let stored: (() => void) | undefined
  /** From now on, until `stored`, this owner has tokens that the storage does not have. It keeps its lock. */
  async function hold({ fence }: Lease): Promise<void> {
    stored?.()
    const stop = replyTo(UNSTORED + (await key))
    const cancel = clock.setTimer(() => stored?.(), UNSTORED_MS)
    stored = () => {
      stored = undefined
      cancel()
      stop()
      releaseOf(fence)
    }
  }
  const hasDied = (owner: string) => isDead(owner, acquire, clock)

  /** @param lease Requests a lease under a name; and once more if the owner whose exchange is in flight has died. */
  async function leased(owner: string, ttlMs: number, lease: (owner: string, others: Others) => Promise<LeaseResult>) {
    const release = await taken(life, acquire)
    const name = release ? life : owner
    let isKept = false
    try {
      let result = await lease(name, NO_OTHERS)
      // A request repeats the step that did not store them.
      if (result.kind !== 'granted' || !result.isPrivate) stored?.()
      if (result.kind === 'busy' && result.by !== undefined && (await hasDied(result.by)))
        result = await lease(name, { ...NO_OTHERS, dead: result.by })
      isKept = result.kind === 'granted'
      if (result.kind === 'granted' && release) keep(result.fence, ttlMs, release)
      return result
    } finally {
      if (!isKept) release?.()
    }
  }

  /** Does not present a refresh token in doubt while another owner has its successor. */
  async function patient(result: LeaseResult): Promise<LeaseResult> {
    if (result.kind !== 'granted' || !result.isDoubted || !(await isAlive(UNSTORED + (await key), clock))) return result
    await record.release(result, KEPT)
    return { kind: 'busy', remainingMs: ASK_MS }
  }

  return {
    acquire: (owner, seenVersion, ttlMs, terms) =>
      leased(owner, ttlMs, async (name, others) => {
        const result = await record.acquire(name, seenVersion, ttlMs, { ...terms, others })
        return others.dead === undefined ? patient(result) : result
      }),
    acquireForLogout: (owner, seenVersion, ttlMs, ends) =>
      leased(owner, ttlMs, (name, others) => record.acquireForLogout(name, seenVersion, ttlMs, { ...ends, others })),
    async accept(lease, tokens) {
      await hold(lease)
      const kept = await record.accept(lease, tokens)
      if (lease.isPrivate || kept.version > lease.version) stored?.()
      return kept
    },
    // If it fails, the exchange is over all the same, and its refresh token is in doubt for all owners.
    release: (lease, ...given) => record.release(lease, ...given).finally(() => releaseOf(lease.fence)),
    adopt: (...given) => record.adopt(...given),
    clear: (...given) => record.clear(...given),
    close() {
      stored?.()
      record.close?.()
    },
    check: (...given) => record.check?.(...given) ?? Promise.resolve(undefined),
    watch: (onChange) => record.watch?.(onChange),
  }
}

/** The locks of leases, by their fences. */
function locksOfLeases(clock: Clock) {
  const held = new Map<number, () => void>()
  const release = (fence: number) => held.get(fence)?.()
  function keep(fence: number, ttlMs: number, releaseLock: () => void): void {
    // An expired lease blocks no owner, with or without a lock.
    const cancel = clock.setTimer(releaseLock, ttlMs)
    release(fence)
    held.set(fence, () => {
      cancel()
      held.delete(fence)
      releaseLock()
    })
  }
  return { keep, release }
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

/**
 * Takes the lock before the lease is written: no owner may find the lease of a living owner without its lock.
 *
 * @returns release; undefined if there is no lock
 */
async function taken(life: string, acquire: Acquire): Promise<(() => void) | undefined> {
  // Shared, because an outdated exchange of this owner may still be in flight.
  const release = await acquire(life, 'shared')
  if (!release) return undefined
  const stop = replyTo(life)
  return () => {
    stop()
    release()
  }
}

/**
 * Whether an owner that locks has died: its lock is free, and it does not respond either. The lock alone is not proof: after a user clears the data of the
 * site, Chromium gives new pages a separate set of locks.
 */
async function isDead(owner: string, acquire: Acquire, clock: Clock): Promise<boolean> {
  if (!owner.startsWith(LOCKED)) return false
  const release = await acquire(owner, 'exclusive')
  release?.()
  return release !== undefined && !(await isAlive(owner, clock))
}
