import { deleteHeader } from './header-names.ts'

/**
 * Hides the token in a response or an error of an adapter: `request` holds the raw header text, and `config` may be a copy.
 *
 * @param header In lower case.
 * @param clean The headers of the request, which never held the token.
 */
function conceal(holder: unknown, header: string, clean: object): void {
  if (typeof holder !== 'object' || holder === null) return
  const { request, config } = holder as { request?: unknown; config?: { headers?: object } }
  // Test doubles may have configs of any shape, and frozen ones.
  const headers = config?.headers ?? {}
  if (headers !== clean) deleteHeader(headers, header)
  // `request` stays readable, but nothing prints it.
  if (Object.prototype.propertyIsEnumerable.call(holder, 'request')) hideRequest(holder, request)
  concealRequest(request)
  // Node's request and the one that follows redirects refer to each other, and streams may hold either of them.
  const { _redirectable, _currentRequest } = (request ?? {}) as { _redirectable?: unknown; _currentRequest?: unknown }
  concealRequest(_redirectable)
  concealRequest(_currentRequest)
}

/** Makes `request` a member that nothing prints. */
function hideRequest(holder: object, request: unknown): void {
  Reflect.defineProperty(holder, 'request', hidden(request))
}

/**
 * As `hideRequest`, in a copy of a response. In V8 it takes twice as long to redefine a member as to copy the others and to define that one. A
 * response with a class of its own stays the same object. A class with a private member would cost nothing, but proxies (Vue), Immer and
 * `deepStrictEqual` would no longer take the response for the plain object that axios gives.
 */
export function withHiddenRequest<Response>(response: Response): Response {
  if (typeof response !== 'object' || response === null || Object.getPrototypeOf(response) !== Object.prototype)
    return response
  const { request, ...copy } = response as Response & { request?: unknown }
  return request === undefined ? response : Object.defineProperty(copy as Response, 'request', hidden(request))
}

const hidden = (value: unknown) => ({ value, enumerable: false, writable: true, configurable: true })

/** As `conceal`, for an error and its causes, which may be axios errors as well. */
export function concealError(error: unknown, header: string, clean: object): void {
  let link = error
  for (let depth = 0; depth < 4 && typeof link === 'object' && link !== null; depth += 1) {
    conceal(link, header, clean)
    link = (link as Error).cause
  }
}

/** As `conceal`, for a response. If its body is a stream, the error of a broken body is concealed, too. */
export function concealResponse(response: unknown, header: string, clean: object): void {
  conceal(response, header, clean)
  const { data } = (response ?? {}) as { data?: unknown }
  if (typeof data !== 'object' || data === null) return
  const { on, constructor } = data as { on?: unknown; constructor?: { errorMonitor?: symbol } }
  if (typeof on !== 'function' || !constructor?.errorMonitor) return
  // A monitor does not count as a handler: an error that nobody handles must still end the process.
  on.call(data, constructor.errorMonitor, (error: unknown) => concealError(error, header, clean))
}

/**
 * Hides the headers of a request of fetch or Node from logs. Many objects hold the request and would print it: streams, sockets, and their
 * errors. Its members stay readable.
 */
export function concealRequest(request: unknown): void {
  if (typeof request !== 'object' || request === null) return
  const printed = request as Printed
  if (printed.toJSON === shown || (!('getHeader' in request) && !('headers' in request))) return
  try {
    // Assigned, not defined: assignment takes a tenth of the time, and copies of the request hide the headers, too.
    printed[INSPECT] = printed.toJSON = shown
  } catch {
    // An inherited read-only member cannot be assigned. A frozen request is left as it is.
    for (const name of [INSPECT, 'toJSON']) Reflect.defineProperty(request, name, { value: shown, configurable: true })
  }
}

/** Node and Bun print what this method of an object returns. JSON uses `toJSON`. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')
interface Printed {
  [INSPECT]?: unknown
  toJSON?: unknown
}

function shown(this: { method?: string; url?: string; path?: string }): string {
  return `Request ${this.method} ${this.url ?? this.path}`
}

/** Hides an agent from JSON. An agent holds all its requests in flight, and a config may hold an agent: the JSON of an error would show all. */
export function concealAgent(agent: unknown): void {
  if (typeof agent !== 'object' || agent === null || 'toJSON' in agent) return
  Reflect.defineProperty(agent, 'toJSON', { value: () => 'Agent', configurable: true })
}
