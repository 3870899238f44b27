import type { InternalAxiosRequestConfig } from 'axios'
import { builtinModule } from '../core/builtin-module.ts'
import { deleteHeader } from './header-names.ts'

/**
 * Hides the token in a response or an error of an adapter. Its `request` contains the raw headers, and its `config` may be a copy.
 *
 * @param header In lower case.
 * @param clean The headers of the config, without the token.
 */
function conceal(holder: unknown, header: string, clean: object): void {
  if (typeof holder !== 'object' || holder === null) return
  const { request, config } = holder as { request?: unknown; config?: { headers?: object } }
  // Configs of test doubles may have any shape, and may be frozen.
  const headers = config?.headers ?? {}
  if (headers !== clean) deleteHeader(headers, header)
  // `request` stays readable, but nothing prints it.
  if (Object.prototype.propertyIsEnumerable.call(holder, 'request'))
    Reflect.defineProperty(holder, 'request', hidden(request))
  concealRequest(request)
  // Node's request and the request that follows redirects refer to each other, and streams may refer to either of them.
  const { _redirectable, _currentRequest, agent } = (request ?? {}) as Record<string, unknown>
  concealRequest(_redirectable)
  concealRequest(_currentRequest)
  // axios creates an agent for a proxy.
  concealAgent(agent)
}

/**
 * Makes `request` a member that nothing prints, in a copy of the response. In V8, redefining a member takes twice as long as copying the others and
 * defining this one. A response of a class of its own is not copied. A class with a private member would cost nothing, but proxies (Vue), Immer and
 * `deepStrictEqual` would no longer treat the response as a plain object.
 */
export function withHiddenRequest<Response>(response: Response): Response {
  if (typeof response !== 'object' || response === null || Object.getPrototypeOf(response) !== Object.prototype)
    return response
  const { request, ...copy } = response as Response & { request?: unknown }
  return request === undefined ? response : Object.defineProperty(copy as Response, 'request', hidden(request))
}

const hidden = (value: unknown) => ({ value, enumerable: false, writable: true, configurable: true })

/** Like `conceal`, for an error and its causes, which may be axios errors, too. */
export function concealError(error: unknown, header: string, clean: object): void {
  let link = error
  for (let depth = 0; depth < 4 && typeof link === 'object' && link !== null; depth += 1) {
    conceal(link, header, clean)
    link = (link as Error).cause
  }
}

/** Like `conceal`, for a response. If its body is a stream, a later error of the stream is concealed, too. */
export function concealResponse(response: unknown, header: string, clean: object): void {
  conceal(response, header, clean)
  const { data } = (response ?? {}) as { data?: unknown }
  if (typeof data !== 'object' || data === null) return
  const { on, constructor } = data as { on?: unknown; constructor?: { errorMonitor?: symbol } }
  if (typeof on !== 'function' || !constructor?.errorMonitor) return
  // A monitor does not count as a handler: an unhandled error must still end the process.
  on.call(data, constructor.errorMonitor, (error: unknown) => concealError(error, header, clean))
}

/**
 * Hides the headers of a request of fetch or Node from logs. Many objects refer to the request and would print it: streams, sockets and their errors.
 * Its members stay readable.
 */
export function concealRequest(request: unknown): void {
  if (typeof request !== 'object' || request === null) return
  const printed = request as Printed
  if (printed.toJSON === shown || (!('getHeader' in request) && !('headers' in request))) return
  try {
    // Assignment takes a tenth of the time of a definition, and copies of the request hide the headers, too.
    printed[INSPECT] = printed.toJSON = shown
  } catch {
    // An inherited read-only member cannot be assigned. A frozen request is left unchanged.
    for (const name of [INSPECT, 'toJSON']) Reflect.defineProperty(request, name, { value: shown, configurable: true })
  }
}

/** Node and Bun print the result of this method. JSON uses `toJSON`. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')
interface Printed {
  [INSPECT]?: unknown
  toJSON?: unknown
}

function shown(this: { method?: string; url?: string; path?: string }): string {
  return `Request ${this.method} ${this.url ?? this.path}`
}

type Agents = Pick<InternalAxiosRequestConfig, 'httpAgent' | 'httpsAgent'>
type AgentModule = { readonly globalAgent?: unknown } | undefined
let modules: readonly [http: AgentModule, https: AgentModule] | undefined

/** Hides the agents that a request may use, before the request is sent. */
export function concealAgents({ httpAgent, httpsAgent }: Agents): void {
  modules ??= [builtinModule('node:http'), builtinModule('node:https')] as [AgentModule, AgentModule]
  concealAgent(httpAgent ?? modules[0]?.globalAgent)
  concealAgent(httpsAgent ?? modules[1]?.globalAgent)
}

/**
 * An agent refers to all its requests in flight, so any request that uses it would print the tokens of the others. So would a request that has ended: it
 * refers to its socket, which another request now uses (F415).
 */
function concealAgent(agent: unknown): void {
  if (typeof agent !== 'object' || agent === null || (INSPECT in agent && 'toJSON' in agent)) return
  printAsName(agent)
  // A frozen agent cannot be changed, and would get another listener with each request.
  if (!(INSPECT in agent)) return
  const { freeSockets, on } = agent as Partial<AgentWithSockets>
  Object.values(freeSockets ?? {})
    .flat()
    .forEach(printAsName)
  on?.call?.(agent, 'free', printAsName)
}

interface AgentWithSockets {
  readonly freeSockets: Readonly<Record<string, object[]>>
  /** Called as a method of the agent. */
  readonly on: { call?(agent: object, name: 'free', listener: (socket: object) => void): void }
}

/** Makes an object print as the name of its class. */
function printAsName(holder: object): void {
  for (const name of [INSPECT, 'toJSON'])
    if (!(name in holder)) Reflect.defineProperty(holder, name, { value: nameOf, configurable: true })
}

function nameOf(this: object): string {
  return this.constructor.name
}
