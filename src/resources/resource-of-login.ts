import type { Account } from '../core/account.ts'
import { isOfLogin } from '../core/lease.ts'
import type { LoginHost } from '../core/login-port.ts'
import type { ManagerParts } from '../core/manager-internals.ts'
import { member } from '../core/thrown.ts'
import type { ResourceTokens } from '../core/token-manager.ts'
import type { TokenSource } from '../core/token-source.ts'
import type { OpenableStore, OtherOwners } from '../core/token-store.ts'
import { Family } from './family.ts'
import { ResourceManager } from './resource-manager.ts'
import type { Resource } from './resource-options.ts'
import { ResourceSource, type SourceRequests } from './resource-source.ts'
import { sharedLogin } from './shared-login.ts'
import { SlotRecord } from './slot-record.ts'

/** @returns The tokens of a resource, from the manager of its login or of its credentials. */
export function resourceOf(
  parts: ManagerParts,
  resource: Resource,
  requestsOf: (resource: Resource) => SourceRequests,
): ResourceManager {
  const family = familyOf(parts)
  const known = family.members.get(resource.key)
  return known ? known.tokens : opened(family, resource, parts.Manager, requestsOf(resource))
}

const families = new WeakMap<Account, Family>()

function familyOf({ account, machine }: ManagerParts): Family {
  const family = families.get(account) ?? new Family(account, machine)
  families.set(account, family)
  return family
}

function opened(
  family: Family,
  resource: Resource,
  Manager: ManagerParts['Manager'],
  requests: SourceRequests,
): ResourceManager {
  const { settings } = family.account
  const { source, store, rules, readThrown } = settings
  const isJoined = isOfLogin(rules)
  let joined: { account: Account; host: LoginHost } | undefined
  const layer = isJoined
    ? sharedLogin(family, (own, host) => (joined = { account: own, host }))
    : (member(source, 'login') as TokenSource['login'])
  const derived = new ResourceSource({
    ...{ source, resource, readThrown, login: layer, isSeparate: !isJoined },
    requests,
  })
  const { renewal, retry, exchangeTimeoutMs, onSuspicious, clock, random, storeKey } = settings
  const options = {
    source: derived,
    store: isJoined ? slotStore(family, resource.key) : store,
    storeKey: isJoined ? storeKey : `${storeKey} ${resource.key}`,
  }
  const inner = new Manager(
    { ...options, renewal, retry, exchangeTimeoutMs, onSuspicious, clock, random },
    readThrown,
    settings.logins,
  )
  // The manager of the login emits this event. It concerns the resource, too.
  const stop = settings.events.on('loginChanged', (change) => {
    joined?.account.settings.events.emit('loginChanged', { ...change })
  })
  if (isJoined) reportToLogin(inner, family.account)
  const tokens = new ResourceManager(inner, resource.options, () => {
    stop()
    family.members.delete(resource.key)
  })
  family.members.set(resource.key, { tokens, joined })
  if (family.account.isClosed) void tokens.close()
  return tokens
}

/** A suspicion concerns the refresh token of the login, so the manager of the login reports it, too. */
function reportToLogin(inner: Pick<ResourceTokens, 'on'>, { settings: { events }, suspicions }: Account): void {
  inner.on('suspicious', (event) => {
    suspicions.count += 1
    events.emit('suspicious', { ...event })
  })
  inner.on('suspicionSettled', (event) => events.emit('suspicionSettled', { ...event }))
}

/** Looks like a store, so that a manager opens the record of its login. */
function slotStore(family: Family, key: string): OpenableStore {
  const { store } = family.account.settings
  return { kind: store?.kind ?? 'memory', others: store?.others ?? IN_MEMORY, open: () => new SlotRecord(family, key) }
}

/** Without a store there are no other owners, and `acts.after` runs the exchanges of the login one after another. */
const IN_MEMORY: OtherOwners = {
  takeTurn: (turn) => turn.tryAcquire(Infinity, {}) as ReturnType<OtherOwners['takeTurn']>,
  spread: () => Promise.resolve(),
  errorIfPrivate: (_, error) => error,
}
