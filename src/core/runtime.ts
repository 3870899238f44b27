import { systemClock } from './clock.ts'

/** What Node and similar runtimes offer beyond the language. Looked up when needed, so that no Node import reaches a browser. */
interface Runtime {
  readonly console?: { warn?(message: string): void }
  readonly crypto?: { readonly subtle?: unknown }
  readonly isSecureContext?: boolean
  readonly navigator?: { readonly onLine?: boolean }
  readonly process?: {
    readonly versions?: { readonly node?: string }
    getBuiltinModule?(id: string): unknown
    emitWarning?(message: string, options: { type: string; code: string; detail: string }): void
  }
}

/** Runs a function in a captured asynchronous context. */
export type Context = <Result>(run: () => Result) => Result

/** @returns A module of Node, undefined if the runtime does not have it. */
export function builtinModule(id: 'node:async_hooks' | 'node:events' | 'node:http' | 'node:https'): unknown {
  return (globalThis as Runtime).process?.getBuiltinModule?.(id)
}

/**
 * @param what Names the option that needs `crypto.subtle`.
 * @throws {TypeError} on a page that is no secure context: browsers do not offer it there.
 */
export function checkWebCrypto(what: string, otherwise: string): void {
  const { crypto, isSecureContext, process } = globalThis as Runtime
  const isPage = isSecureContext === false
  // jsdom hides what Node has.
  if (crypto?.subtle || (!isPage && process?.versions?.node !== undefined)) return
  throw new TypeError(
    isPage
      ? `${what} needs WebCrypto, which browsers offer to pages of https and of localhost only: serve the page over https, or ${otherwise}`
      : `${what} needs crypto.subtle, which this runtime lacks: load a polyfill before axios-evergreen (for React Native, docs/works-with.md names one), or ${otherwise}`,
  )
}

/** What a manager uses beyond the language, and a use of each that fails where it is missing, or there in name only. */
const NEEDED: Readonly<Record<string, () => unknown>> = {
  // Not called: workerd gives no random value while a module is loaded.
  'crypto.getRandomValues': () => crypto.getRandomValues.length,
  TextEncoder: () => new TextEncoder().encode('a'),
  TextDecoder: () => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array(1)),
  URL: () => new URL('/b', 'https://a.example/').origin.length,
  URLSearchParams: () => new URLSearchParams([['a', 'b']]).toString(),
  AbortController: () => new AbortController().signal.aborted,
  'performance.now': () => systemClock.monotonicNow(),
}
let isComplete = false

/** @throws {TypeError} naming what the runtime lacks. Otherwise a token call would fail after it has spent its refresh token. */
export function checkRuntime(): void {
  const { node } = (globalThis as Runtime).process?.versions ?? {}
  if (Number.parseInt(node ?? '', 10) < 20)
    throw new TypeError(`axios-evergreen needs Node 20.19, 22.12 or newer, and this is ${node}: install a newer Node`)
  // jsdom hides some of what Node has. Programs do not run there, only tests, whose token calls are not real.
  if (isComplete || node !== undefined) return
  const missing = Object.keys(NEEDED).filter((name) => !works(NEEDED[name]))
  if (missing.length > 0)
    throw new TypeError(
      `This runtime lacks ${missing.join(', ')}: load polyfills before axios-evergreen (for React Native, docs/works-with.md names them)`,
    )
  isComplete = true
}

/**
 * @param axios A test may have put something else in its place, without a version.
 * @throws {TypeError} With an older axios a token call would fail without a word of the reason.
 */
export function checkAxios(axios: unknown): void {
  const { VERSION: version } = (axios ?? {}) as { readonly VERSION?: unknown }
  const [major = 0, minor = 0] = typeof version === 'string' ? version.split('.').map(Number) : [1, 18]
  if (major < 1 || (major === 1 && minor < 18))
    throw new TypeError(
      `axios-evergreen needs axios 1.18 or newer, and this is ${String(version)}: npm install axios@latest`,
    )
}

function works(use: (() => unknown) | undefined): boolean {
  try {
    use?.()
    return true
  } catch {
    return false
  }
}

/** Whether this is a browser that is certainly offline. */
export function isOffline(): boolean {
  return (globalThis as Runtime).navigator?.onLine === false
}

interface AsyncHooks {
  readonly AsyncResource?: new (type: string, options: object) => { runInAsyncScope: Context }
}

/** Captures the current asynchronous context (AsyncLocalStorage), if the runtime has one. */
export function currentContext(): Context {
  const { AsyncResource } = (builtinModule('node:async_hooks') ?? {}) as AsyncHooks
  if (!AsyncResource) return (run) => run()
  // Not `AsyncLocalStorage.snapshot`: that would be the largest part of a manager, and a process may have thousands.
  const resource = new AsyncResource('axios-evergreen', { requireManualDestroy: true })
  return (run) => resource.runInAsyncScope(run)
}

const told = new Set<string>()

const EVENTS =
  'Listen to the events of the token manager to be told each time: https://www.npmjs.com/package/axios-evergreen#events'

/** Warns once per code in a process: by a warning of the process if the runtime has such, else on the console. */
export function warnOnce(code: string, message: string, detail = EVENTS): void {
  if (told.has(code)) return
  told.add(code)
  const { process, console } = globalThis as Runtime
  if (process?.emitWarning) process.emitWarning(message, { type: 'AxiosEvergreenWarning', code, detail })
  else console?.warn?.(`axios-evergreen: ${message}\n${detail}`)
}
