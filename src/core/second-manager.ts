import type { Account } from './account.ts'
import type { OpenableStore } from './token-store.ts'

/** Weak: a manager that was garbage-collected does not count. */
type Known = WeakRef<Account>

/** The managers of this process, by source ID. Null: a second one was reported. */
export const known = /* @__PURE__ */ new Map<string, readonly Known[] | null>()

function isOpen(account: Known): boolean {
  return account.deref()?.isClosed === false
}

/** Above this number of accounts, those without an open manager are removed. The limit then doubles, so a new manager costs two checks on average. */
let limit = 64

/**
 * Reports a second manager of the same account or login that shares no store with the first. The two make twice as many token requests. A service may
 * revoke the tokens of one when the other obtains, and only one of them can use the refresh token of a login. Reported once per account, to the later
 * manager. Two managers that both have a store are not reported, because the stores may use the same server, unless the stores are local to this process.
 */
export function reportSecondManager(account: Account): void {
  const { source, store, events } = account.settings
  const { id } = source
  // Some runtimes, such as older workerd, lack WeakRef.
  if (id === '' || known.get(id) === null || typeof WeakRef === 'undefined') return
  if (known.size > limit) {
    for (const [other, managers] of known) if (managers?.some(isOpen) === false) known.delete(other)
    limit = 64 + 2 * known.size
  }
  const others = (known.get(id) ?? []).filter(isOpen)
  known.set(id, [...others, new WeakRef(account)])
  if (others.length === 0) return
  // Deferred, so that listeners added after construction receive the report, and an old manager that is closed in this turn does not count.
  void Promise.resolve().then(() => {
    const isSecond = others.some((other) => isOpen(other) && !haveCommon(store, other.deref()?.settings.store))
    if (!isSecond || account.isClosed || known.get(id) === null) return
    known.set(id, null)
    events.anomaly('second-manager', account.login ? OF_LOGIN : OF_ACCOUNT)
  })
}

/** Whether two managers may share tokens. */
function haveCommon(one: OpenableStore | undefined, other: OpenableStore | undefined): boolean {
  return one && other ? one === other || !(one.isLocal ?? other.isLocal) : false
}

const SHARE_NOTHING = 'share no store: use one manager, or one store for both'
const OF_ACCOUNT = `Two managers of this account ${SHARE_NOTHING}`
const OF_LOGIN = `Two managers of this login ${SHARE_NOTHING}, because a refresh by one ends the login of the other. Logins of two users need separate accounts`
