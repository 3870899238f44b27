import {
  internalsOf,
  type ManagerInternals,
  type ManagerParts,
  type PageParts,
  SERVE_RESOURCE,
} from '../core/manager-internals.ts'
import { checkObject } from '../core/option-checks.ts'
import { isPromise, member } from '../core/thrown.ts'
import type { LoginManager, ResourceTokens } from '../core/token-manager.ts'
import type { ResourceOptions } from '../core/resource.ts'
import { PageResource } from './page-resource.ts'
import { resourceOf } from './resource-of-login.ts'
import { checkedResource, type Resource } from './resource-options.ts'
import type { SourceRequests } from './resource-source.ts'
import { serverOf } from './worker-resource.ts'

type RequestsOf = (resource: Resource) => SourceRequests

/** @param requestsOf Makes the requests of a source of this package for the resource. @throws {TypeError} */
export function openResource(tokens: ResourceTokens, options: ResourceOptions, requestsOf: RequestsOf): ResourceTokens {
  const internals = checkedInternals(tokens)
  const resource = checkedResource(options)
  // If this is a worker, its pages may open resources from now on.
  Reflect.set(
    globalThis,
    SERVE_RESOURCE,
    serverOf((manager, wanted) => openResource(manager, wanted, requestsOf)),
  )
  if (internals.page) return resourceInPage(tokens as LoginManager, internals, internals.page, resource)
  return resourceOf(partsOf(internals), resource, requestsOf)
}

/** @throws {TypeError} saying what to pass. */
function checkedInternals(tokens: ResourceTokens): ManagerInternals {
  if (isPromise(tokens)) throw new TypeError('tokens must be a token manager, got a promise of one: await it first')
  checkObject('tokens', tokens)
  const internals = internalsOf(tokens)
  if (internals?.resource) throw new TypeError('tokens is for one resource already: pass the manager of the login')
  if (internals) return internals
  throw new TypeError(NO_MANAGER)
}

/** @throws {TypeError} saying what to add. */
function partsOf({ parts: partsIn }: ManagerInternals): ManagerParts {
  const parts = partsIn?.()
  if (!parts) throw new TypeError(NO_MANAGER)
  if (member(parts.account.settings.source, 'resources') !== true) throw new TypeError(NO_RESOURCES)
  return parts
}

const NO_MANAGER = 'tokens must be a token manager: pass what createTokenManager() returned'
const NO_RESOURCES =
  'The source of tokens takes no resources: request the token that context.resource names, in obtain and refresh, and set resources: true on the source'

/** The opened resources, by the page's side of a worker's manager. */
const pages = new WeakMap<ResourceTokens, Map<string, PageResource>>()

function resourceInPage(
  tokens: LoginManager,
  internals: ManagerInternals,
  page: PageParts,
  resource: Resource,
): ResourceTokens {
  const all = pages.get(tokens) ?? new Map<string, PageResource>()
  pages.set(tokens, all)
  page.onEvent((name, event) => {
    const { resource: of } = event as { readonly resource: ResourceOptions }
    all.get(checkedResource(of).key)?.receive(name, event)
  })
  const known = all.get(resource.key)
  if (known) return known
  const opened = new PageResource(tokens, internals, page, resource, () => all.delete(resource.key))
  all.set(resource.key, opened)
  return opened
}
