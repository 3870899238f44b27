import type { Account } from '../core/account.ts'
import { TokenError } from '../core/errors.ts'
import type { CoolDown } from '../core/lease.ts'
import type { LoginHost } from '../core/login-port.ts'
import { internalsOf, type ManagerParts } from '../core/manager-internals.ts'
import { checkObject } from '../core/option-checks.ts'
import { CallFailed } from '../core/plan.ts'
import { isPromise, member } from '../core/thrown.ts'
import type { ResourceTokens } from '../core/token-manager.ts'
import type { ResourceOptions, TokenSource } from '../core/token-source.ts'
import type { OpenableStore, OtherOwners } from '../core/token-store.ts'
import { Family } from './family.ts'
import { ResourceManager } from './resource-manager.ts'
import { checkedResource, type Resource } from './resource-options.ts'
import { ResourceSource, type SourceRequests } from './resource-source.ts'
import { sharedLogin } from './shared-login.ts'
import { slotRecord } from './slot-record.ts'

type RequestsOf = (resource: Resource) => SourceRequests

/** @param requestsOf How a source of this package asks for the resource. @throws {TypeError} */
export function openResource(tokens: ResourceTokens, options: ResourceOptions, requestsOf: RequestsOf): ResourceTokens {
  const parts = partsOf(tokens)
  const resource = checkedResource(options)
  const family = familyOf(parts)
  const known = family.members.get(resource.key)
  return known ? known.tokens : opened(family, resource, parts.Manager, requestsOf(resource))
}

/** @throws {TypeError} saying what to pass, or to add. */
function partsOf(tokens: ResourceTokens): ManagerParts {
  if (isPromise(tokens)) throw new TypeError('tokens must be a token manager, got a promise of one: await it first')
  checkObject('tokens', tokens)
  const internals = internalsOf(tokens)
  if (internals?.resource) throw new TypeError('tokens is for one resource already: pass the manager of the login')
  if (!internals?.parts) throw new TypeError('tokens must be a token manager: pass what createTokenManager() returned')
  const parts = internals.parts()
  if (member(parts.account.settings.source, 'resources') !== true) throw new TypeError(NO_RESOURCES)
  return parts
}

const NO_RESOURCES =
  'The source of tokens takes no resources: request the token that context.resource names, in obtain and refresh, and set resources: true on the source'

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
  const { account } = family
  const { settings } = account
  const { source, store, needsLogin, readThrown } = settings
  let joined: { account: Account; host: LoginHost } | undefined
  const layer = needsLogin
    ? sharedLogin(family, (own, host) => (joined = { account: own, host }))
    : (member(source, 'login') as TokenSource['login'])
  const derived = new ResourceSource({
    ...{ source, resource, readThrown, login: layer, isSeparate: !needsLogin },
    requests,
  })
  const own = needsLogin ? slotStore(family, resource.key) : store
  const { renewal, retry, exchangeTimeoutMs, onSuspicious, clock, random, storeKey } = settings
  const options = {
    source: derived,
    ...(own && { store: own }),
    storeKey: needsLogin ? storeKey : `${storeKey} ${resource.key}`,
  }
  const inner = new Manager(
    { ...options, renewal, retry, exchangeTimeoutMs, onSuspicious, clock, random },
    readThrown,
    settings.logins,
  )
  const tokens = new ResourceManager(inner, resource.options, () => family.members.delete(resource.key))
  family.members.set(resource.key, { tokens, joined })
  return tokens
}

/** Looks like a store, so that a manager opens the record of its login. */
function slotStore(family: Family, key: string): OpenableStore {
  const { store } = family.account.settings
  return { kind: store?.kind ?? 'memory', others: store?.others ?? IN_MEMORY, open: () => slotRecord(family, key) }
}

/** Without a store there are no other owners, and the acts of the login keep the order of exchanges. */
const IN_MEMORY: OtherOwners = {
  async takeTurn(turn) {
    for (;;) {
      const lease = await turn.tryAcquire(Infinity, {})
      if (lease.kind === 'cooling') throw new CallFailed(restError(lease.coolDown), lease.coolDown)
      if (lease.kind !== 'busy') return lease
    }
  },
  spread: () => Promise.resolve(),
  errorIfPrivate: (_, error) => error,
}

function restError({ code, ...details }: CoolDown): TokenError {
  return new TokenError(code, 'Another token request of this login has just failed', details)
}
