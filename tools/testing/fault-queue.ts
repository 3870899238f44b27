import { validateHeaderName, validateHeaderValue } from 'node:http'
import { checkWhole } from './service-options.ts'

/** The two kinds of token requests; a request to `revocationEndpoint`; one to `loginEndpoint`; `resource`: every other request. */
export type RequestKind = 'obtain' | 'refresh' | 'revoke' | 'login' | 'resource'

/** What goes wrong with one request. The service applies the fault before it asks the throttle. */
export type SimulatedFault =
  /**
   * The service sends this response, and does not act. `status`: 200 to 599. Default `body`: from 400 on, a JSON:API error with the
   * code that the specification defines for the status (at the OAuth 2.0 endpoints, an OAuth error); below 400, empty.
   */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The connection breaks `before` the service acts (the throttle does not count the request), or `after` it has acted. */
  | { drop: 'before' | 'after' }
  /** The service neither acts nor responds. The connection stays open until the client or `close()` ends it. */
  | { hang: true }
  /**
   * The service acts, and corrupts its response: a wrong `meta.sign`; a wrong `data.type`; text that is not JSON; or a body truncated half way
   * through the announced length. `signature` and `type` have no effect on a response without that member: `signature`
   * corrupts only obtains of Variant B, and neither corrupts the response of a resource.
   */
  | { corrupt: 'signature' | 'type' | 'json' | 'truncate' }

/** All members that a fault may have. */
export interface MetFault {
  status?: number
  headers?: Record<string, string>
  body?: string
  drop?: 'before' | 'after'
  hang?: true
  corrupt?: 'signature' | 'type' | 'json' | 'truncate'
}

/** The pending faults: a queue for each kind of request, in the order of the calls. */
export class FaultQueue {
  readonly #lines: Record<RequestKind, { fault: MetFault; left: number }[]> = {
    obtain: [],
    refresh: [],
    revoke: [],
    login: [],
    resource: [],
  }

  /** @throws {TypeError | RangeError} naming the argument and its value. */
  add(kind: RequestKind, fault: SimulatedFault, times: number): void {
    if (!Object.hasOwn(this.#lines, kind))
      throw new TypeError(`kind must be obtain, refresh, revoke, login or resource, got ${kind}`)
    checkFault(fault)
    checkWhole('times', times, 1, Number.MAX_SAFE_INTEGER)
    this.#lines[kind].push({ fault: { ...fault }, left: times })
  }

  /** @returns The fault for the next request of `kind`; an object without members if there is none. */
  take(kind: RequestKind): MetFault {
    const [next] = this.#lines[kind]
    if (!next) return {}
    next.left -= 1
    if (next.left === 0) this.#lines[kind].shift()
    return next.fault
  }
}

/** @returns The corrupted body; the same body if it lacks that member. For `truncate`, the sender truncates the body. */
export function corrupted(kind: RequestKind, body: string, how: MetFault['corrupt']): string {
  if (how === 'json') return '<!doctype html><title>Not JSON</title>'
  // A resource echoes the request, which may look like a token response.
  if (kind === 'resource') return body
  if (how === 'type') return body.replace('"type":"auth-token"', '"type":"auth-ticket"')
  if (how !== 'signature') return body
  return body.replace(/("sign":")(.)/, (_, before: string, digit: string) => before + (digit === '0' ? '1' : '0'))
}

const DAMAGES = ['signature', 'type', 'json', 'truncate']

function checkFault(fault: SimulatedFault): void {
  const { status, headers = {}, drop, hang, corrupt }: MetFault = Object(fault) as SimulatedFault
  if (status !== undefined) {
    checkWhole('fault.status', status, 200, 599)
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    }
    return
  }
  if (drop === 'before' || drop === 'after' || hang) return
  if (corrupt && DAMAGES.includes(corrupt)) return
  throw new TypeError(
    `fault must be { status }, { drop: 'before' | 'after' }, { hang: true } or { corrupt: '${DAMAGES.join("' | '")}' }, got ${JSON.stringify(fault)}`,
  )
}
