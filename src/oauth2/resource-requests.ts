import { CHALLENGED, type TokenSource } from '../core/token-source.ts'
import { member } from '../core/thrown.ts'
import type { SourceRequests } from '../resources/resource-source.ts'
import type { Resource } from '../resources/resource-options.ts'
import type { CustomErrors } from './custom-meaning.ts'
import { said } from './error-words.ts'
import { OAuth2 } from './oauth2.ts'
import type { OAuth2Settings } from './source-settings.ts'

/** What `oauth2` requests for one resource (RFC 8707, section 2.2). */
export class ResourceRequests implements SourceRequests {
  readonly #resource: Resource
  /** The settings of the last exchange, and of the source that makes it: `mcpLogin` has settings for each login. */
  #last: { readonly settings: OAuth2Settings; readonly own: OAuth2Settings; readonly source: TokenSource } | undefined

  constructor(resource: Resource) {
    this.#resource = resource
  }

  /** @returns Undefined if `settings` are already those of the resource. */
  sourceFor(settings: OAuth2Settings): TokenSource | undefined {
    if (settings === this.#last?.own) return undefined
    if (settings !== this.#last?.settings) {
      const own = { ...settings, ...parametersOf(this.#resource, settings), errors: errorsOf(settings) }
      this.#last = { settings, own, source: new OAuth2(own) }
    }
    return this.#last.source
  }

  challenged(challenge: unknown): void {
    const { source } = this.#last ?? {}
    const pass = member(source, CHALLENGED)
    if (typeof pass === 'function') Reflect.apply(pass, source, [challenge])
  }
}

/** The resource replaces the `scope` of the source, and `resource` and `audience` among its parameters. */
function parametersOf({ options, scope }: Resource, { parameters }: OAuth2Settings) {
  const { resource, audience } = options
  const isNamed = resource !== undefined || audience !== undefined
  const kept = parameters.filter(([name]) => !isNamed || (name !== 'resource' && name !== 'audience'))
  const named = [resource ?? []].flat().map((one): [string, string] => ['resource', one])
  if (audience !== undefined) named.push(['audience', audience])
  return { scope, parameters: [...kept, ...named] }
}

/**
 * `access_denied` denies the request, here for one resource (RFC 6749, section 4.1.2.1). If the refresh token is invalid, servers respond with `invalid_grant`
 * (section 5.2), or with a text. With status 401, `access_denied` concerns the client.
 */
function errorsOf({ errors }: OAuth2Settings): CustomErrors {
  const classify: CustomErrors['classify'] = (status, document, report) => {
    const { meaning } = said(document, errors.codes, true)
    const isDenied = meaning === 'access_denied' && [200, 400, 403].includes(status)
    return errors.classify?.(status, document, report) ?? (isDenied ? 'invalid_target' : undefined)
  }
  return { ...errors, classify }
}
