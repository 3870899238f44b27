import type { Account } from './account.ts'

interface Known {
  /** Weak: a manager that was garbage-collected does not count. */
  readonly account: WeakRef<Account>
  readonly hasStore: boolean
}

/** The managers of this process, by source ID. */
export const known = /* @__PURE__ */ new Map<string, readonly Known[]>()
const reported = /* @__PURE__ */ new Set<string>()

function isOpen({ account }: Known): boolean {
  return account.deref()?.isClosed === false
}

/** At this number of accounts, those without an open manager are removed. */
let limit = 64

/** A process may open and close managers of a million accounts. Waits until the number has doubled, so that each new manager costs two checks on average. */
function forgetClosed(): void {
  if (known.size < limit) return
  for (const [id, managers] of known) if (!managers.some(isOpen)) known.delete(id)
  limit = Math.max(64, 2 * known.size)
}

/**
 * Reports a second manager of the same account that shares no store with the first. The two make twice as many token requests, and a service may
 * revoke the tokens of one when the other obtains. Reported once per account, to the later manager. Two managers that both have a store are not
 * reported, because the stores may use the same server. Only sources of service accounts include this check.
 */
export function reportSecondManager(account: Account): void {
  const { source, store, events } = account.settings
  const { id } = source
  // Some runtimes, such as older workerd, lack WeakRef.
  if (id === '' || reported.has(id) || typeof WeakRef === 'undefined') return
  forgetClosed()
  const others = (known.get(id) ?? []).filter(isOpen)
  known.set(id, [...others, { account: new WeakRef(account), hasStore: store !== undefined }])
  if (others.length === 0) return
  // Deferred, so that listeners added after construction receive it, and an old manager that is closed in this turn does not count.
  void Promise.resolve().then(() => {
    const isSecond = others.some((other) => isOpen(other) && !(store && other.hasStore))
    if (!isSecond || account.isClosed || reported.has(id)) return
    reported.add(id)
    events.anomaly('second-manager', MESSAGE)
  })
}

const MESSAGE =
  'This process has another manager of this account without a common store: use one manager, or give both the same store'
