/** What Node and its kin offer beyond the language. Looked up when it is needed, so that no import of Node reaches a browser. */
interface Runtime {
  readonly console?: { warn?(message: string): void }
  readonly isSecureContext?: boolean
  readonly process?: {
    getBuiltinModule?(id: string): unknown
    emitWarning?(message: string, options: { type: string; code: string; detail: string }): void
  }
}

/** Runs a function in the asynchronous context that was kept. */
export type Context = <Result>(run: () => Result) => Result

/** @returns A module of Node, undefined where the runtime has none. */
export function builtinModule(id: 'node:async_hooks' | 'node:events' | 'node:http' | 'node:https'): unknown {
  return (globalThis as Runtime).process?.getBuiltinModule?.(id)
}

/**
 * @param what Names the option that needs `crypto.subtle`.
 * @throws {TypeError} on a page that is no secure context: browsers keep it from such a page.
 */
export function checkWebCrypto(what: string, otherwise: string): void {
  if ((globalThis as Runtime).isSecureContext !== false || (crypto as { subtle?: unknown }).subtle) return
  throw new TypeError(
    `${what} needs WebCrypto, which browsers offer to pages of https and of localhost only: serve the page over https, or ${otherwise}`,
  )
}

interface AsyncHooks {
  readonly AsyncResource?: new (type: string, options: object) => { runInAsyncScope: Context }
}

/** Keeps the asynchronous context of now (AsyncLocalStorage, where there is one). */
export function currentContext(): Context {
  const { AsyncResource } = (builtinModule('node:async_hooks') ?? {}) as AsyncHooks
  if (!AsyncResource) return (run) => run()
  // Not `AsyncLocalStorage.snapshot`: that would be the largest part of a manager, and there may be thousands of managers.
  const resource = new AsyncResource('axios-evergreen', { requireManualDestroy: true })
  return (run) => resource.runInAsyncScope(run)
}

const told = new Set<string>()

/** Tells a mistake that nobody listens for, once in a process: as a warning where the runtime has warnings, else on the console. */
export function warnOnce(code: string, message: string): void {
  if (told.has(code)) return
  told.add(code)
  const { process, console } = globalThis as Runtime
  const detail = `Listen to the events of the token manager to be told each time: https://www.npmjs.com/package/axios-evergreen#events`
  if (process?.emitWarning) process.emitWarning(message, { type: 'AxiosEvergreenWarning', code, detail })
  else console?.warn?.(`axios-evergreen: ${message}\n${detail}`)
}
