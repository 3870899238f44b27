import type { Account } from './account.ts'

interface Known {
  /** Weak: a manager that nobody holds any more is none. */
  readonly account: WeakRef<Account>
  readonly hasStore: boolean
}

/** The managers of this process, by account. */
const known = /* @__PURE__ */ new Map<string, readonly Known[]>()
const told = /* @__PURE__ */ new Set<string>()

function lives({ account }: Known): boolean {
  return account.deref()?.isClosed === false
}

/**
 * Tells the later one of two managers of one account that share no store: their token calls are twice as many, and a service may end the tokens of one
 * when the other obtains. A source of a service account brings this along. Each account is told of once. Two managers with a store each are none, because both stores may lead to one server.
 */
export function meetOthers(account: Account): void {
  const { source, store, events } = account.settings
  const { id } = source
  // Some runtimes lack WeakRef, such as older workerd.
  if (id === '' || told.has(id) || typeof WeakRef === 'undefined') return
  const others = (known.get(id) ?? []).filter(lives)
  known.set(id, [...others, { account: new WeakRef(account), hasStore: store !== undefined }])
  if (others.length === 0) return
  // Later, so that who listens from the start hears it, and who closes the old manager now is none.
  void Promise.resolve().then(() => {
    const isSecond = others.some((other) => lives(other) && !(store && other.hasStore))
    if (!isSecond || account.isClosed || told.has(id)) return
    told.add(id)
    events.anomaly('second-manager', MESSAGE)
  })
}

const MESSAGE =
  'Another manager of the same account lives in this process, without a common store: share one manager, or give both the same store'
