import { deleteHeader } from './header-names.ts'

/**
 * Takes the token off what an adapter hands out: `request` holds the raw header text, and `config` may be a copy.
 *
 * @param header In lower case.
 * @param sent The headers that went out; the caller cleans these.
 */
function conceal(holder: unknown, header: string, sent: object): void {
  if (typeof holder !== 'object' || holder === null) return
  const { request, config } = holder as { request?: unknown; config?: { headers?: object } }
  // Test doubles hand out configs of any shape, and frozen ones.
  const headers = config?.headers ?? {}
  if (headers !== sent) deleteHeader(headers, header)
  // Still readable, but not printed.
  if (request === undefined) return
  // V8 changes a member at several times the price of making it anew.
  if (Object.isExtensible(holder)) Reflect.deleteProperty(holder, 'request')
  Reflect.defineProperty(holder, 'request', { value: request, enumerable: false, writable: true, configurable: true })
  concealRequest(request)
  // Behind one of Node stands the one that follows its redirects, or the other way round: streams up and down hold either.
  const { _redirectable, _currentRequest } = (request ?? {}) as { _redirectable?: unknown; _currentRequest?: unknown }
  concealRequest(_redirectable)
  concealRequest(_currentRequest)
}

/** The same for an error and its causes, which may be axios errors as well. */
export function concealError(error: unknown, header: string, sent: object): void {
  let link = error
  for (let depth = 0; depth < 4 && typeof link === 'object' && link !== null; depth += 1) {
    conceal(link, header, sent)
    link = (link as Error).cause
  }
}

/** The same for a response, and for what breaks off its body where the user reads that as a stream. */
export function concealResponse(response: unknown, header: string, sent: object): void {
  conceal(response, header, sent)
  const { data } = (response ?? {}) as { data?: unknown }
  if (typeof data !== 'object' || data === null) return
  const { on, constructor } = data as { on?: unknown; constructor?: { errorMonitor?: symbol } }
  if (typeof on !== 'function' || !constructor?.errorMonitor) return
  // Hears of errors without handling them: one that nobody handles must end the process still.
  on.call(data, constructor.errorMonitor, (error: unknown) => concealError(error, header, sent))
}

/**
 * A request of fetch or of Node shows its headers wherever it is printed, and many things hold it: streams, sockets, the errors that these
 * throw. It can still be read.
 */
export function concealRequest(request: unknown): void {
  if (typeof request !== 'object' || request === null) return
  const printed = request as Printed
  if (printed.toJSON === shown || (!('getHeader' in request) && !('headers' in request))) return
  try {
    // Assigned, not defined: that takes a tenth of the time, and a copy of the request shows no headers either.
    printed[INSPECT] = printed.toJSON = shown
  } catch {
    // What it inherits cannot be assigned. A frozen one is left as it is.
    for (const name of [INSPECT, 'toJSON']) Reflect.defineProperty(request, name, { value: shown, configurable: true })
  }
}

/** What Node and Bun ask an object for what to print; JSON asks for `toJSON`. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')
interface Printed {
  [INSPECT]?: unknown
  toJSON?: unknown
}

function shown(this: { method?: string; url?: string; path?: string }): string {
  return `Request ${this.method} ${this.url ?? this.path}`
}

/** An agent holds the requests of others that are under way, and many a config its agent: JSON of an error would show them all. */
export function concealAgent(agent: unknown): void {
  if (typeof agent !== 'object' || agent === null || 'toJSON' in agent) return
  Reflect.defineProperty(agent, 'toJSON', { value: () => 'Agent', configurable: true })
}
