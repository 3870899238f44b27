import { validateHeaderName, validateHeaderValue } from 'node:http'
import { checkWhole } from './service-options.ts'

/** Token calls of the two kinds, and everything else. */
export type RequestKind = 'obtain' | 'refresh' | 'resource'

/** What one request meets instead of, or on top of, a proper answer. Applied before the throttle is asked. */
export type SimulatedFault =
  /**
   * Answered so, and the service does not act. `status` 200 to 599. Without `body`: from 400 on a JSON:API error with the
   * code the specification gives that status (at `tokenEndpoint` an error of OAuth 2.0), below 400 nothing.
   */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** The connection breaks `before` the service has acted (throttle included), or `after` it. */
  | { drop: 'before' | 'after' }
  /** The service neither acts nor answers; the connection stays open until the client, or `close()`, ends it. */
  | { hang: true }
  /**
   * The service acts, and its answer is damaged: a wrong `meta.sign`; a wrong `data.type`; no JSON; or cut off half way
   * through the announced length. `signature` and `type` leave an answer without that member as it is, so `signature`
   * shows on Variant B obtains only, and neither on a resource.
   */
  | { corrupt: 'signature' | 'type' | 'json' | 'truncate' }

/** Every member a fault may have. */
export interface MetFault {
  status?: number
  headers?: Record<string, string>
  body?: string
  drop?: 'before' | 'after'
  hang?: true
  corrupt?: 'signature' | 'type' | 'json' | 'truncate'
}

/** Faults wait here, each kind in a line of its own, in the order they were given. */
export class FaultQueue {
  readonly #lines: Record<RequestKind, { fault: MetFault; left: number }[]> = { obtain: [], refresh: [], resource: [] }

  /** @throws {TypeError | RangeError} naming the argument and its value. */
  add(kind: RequestKind, fault: SimulatedFault, times: number): void {
    if (!Object.hasOwn(this.#lines, kind)) throw new TypeError(`kind must be obtain, refresh or resource, got ${kind}`)
    checkFault(fault)
    checkWhole('times', times, 1, Number.MAX_SAFE_INTEGER)
    this.#lines[kind].push({ fault: { ...fault }, left: times })
  }

  /** @returns the fault the next request of `kind` meets; without members if it meets none. */
  take(kind: RequestKind): MetFault {
    const [next] = this.#lines[kind]
    if (!next) return {}
    next.left -= 1
    if (next.left === 0) this.#lines[kind].shift()
    return next.fault
  }
}

/** @returns the body with the damage done; as it is if it lacks the member in question. `truncate` is up to the sender. */
export function corrupted(kind: RequestKind, body: string, how: MetFault['corrupt']): string {
  if (how === 'json') return '<!doctype html><title>Not JSON</title>'
  // An echoed header may look like a member of an answer.
  if (kind === 'resource') return body
  if (how === 'type') return body.replace('"type":"auth-token"', '"type":"auth-ticket"')
  if (how !== 'signature') return body
  return body.replace(/("sign":")(.)/, (_, before: string, digit: string) => before + (digit === '0' ? '1' : '0'))
}

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
  if (corrupt && ['signature', 'type', 'json', 'truncate'].includes(corrupt)) return
  throw new TypeError(
    `fault must have a status, drop, hang or corrupt of the listed values, got ${JSON.stringify(fault)}`,
  )
}
