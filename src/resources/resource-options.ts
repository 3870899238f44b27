import { checkText, readOptions, wrong } from '../core/option-checks.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import type { ResourceOptions } from '../core/resource.ts'
import { bare } from '../core/whole.ts'

/** One resource: what a caller asked for, and what identifies it. */
export interface Resource {
  /** The options as given, for the source, for events and for `status()`. Frozen, without a prototype (F402). */
  readonly options: ResourceOptions
  /** The same text for the same resources, audience and scopes, in any order. */
  readonly key: string
  /** The scope tokens to request. */
  readonly scope: readonly string[]
}

const OPTIONS = {
  resource: (name: string, given: unknown) => checkedResources(name, given),
  audience: (name: string, given: unknown) => (given === undefined ? undefined : checkedWord(name, given)),
  scope: (name: string, given: unknown) => (given === undefined ? undefined : checkedScope(name, given)),
}

/** @throws {TypeError} naming the option. */
export function checkedResource(given: ResourceOptions): Resource {
  const own = readOptions('The options of forResource', given, OPTIONS, '')
  const { resource, audience, scope } = own
  if (resource === undefined && audience === undefined && scope === undefined)
    throw new TypeError('forResource needs resource, audience or scope: name the API that the token is for')
  const options = bare({
    ...(resource !== undefined && { resource }),
    ...(audience !== undefined && { audience }),
    ...(scope !== undefined && { scope }),
  })
  const name = Object.values(options).flat().join(' ')
  // Event logs can print the resource as text.
  Object.freeze(Object.defineProperty(options, 'toString', { value: () => name }))
  const words = (scope ?? '').split(' ').filter((word) => word !== '')
  const key = JSON.stringify([sorted([resource ?? []].flat()), audience ?? '', sorted(words)])
  return Object.freeze({ options, key, scope: words })
}

function sorted(words: readonly string[]): string[] {
  return [...new Set(words)].sort()
}

/** RFC 8707, section 2. */
function checkedResources(name: string, given: unknown): string | readonly string[] | undefined {
  if (given === undefined) return undefined
  if (!Array.isArray(given)) return checkedUri(name, given)
  if (given.length === 0) throw new TypeError(`${name} must name at least one API`)
  return Object.freeze(given.map((one) => checkedUri(name, one)))
}

function checkedUri(name: string, given: unknown): string {
  checkText(name, given)
  if (!parsedUrl(given)) throw wrong(name, 'an absolute URI, such as https://orders.example.com', 'another string')
  if (given.includes('#')) throw new TypeError(`${name} must have no fragment (RFC 8707, section 2)`)
  return given
}

function checkedWord(name: string, given: unknown): string {
  checkText(name, given)
  return given
}

/** RFC 6749, section 3.3. */
function checkedScope(name: string, given: unknown): string {
  checkText(name, given)
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(given) && given.trim() !== '') return given
  throw new TypeError(`${name} must be words of visible ASCII characters without " and \\, with spaces between`)
}
