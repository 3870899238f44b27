/** What Node and its kin offer beyond the language. Looked up when it is needed, so that no import of Node reaches a browser. */
interface Runtime {
  readonly process?: {
    getBuiltinModule?(id: string): { AsyncLocalStorage?: { snapshot?(): Context } } | undefined
    emitWarning?(message: string, options: { type: string; code: string; detail: string }): void
  }
}

/** Runs a function in the asynchronous context that was kept. */
export type Context = <Result>(run: () => Result) => Result

/** Keeps the asynchronous context of now (AsyncLocalStorage, where there is one). */
export function currentContext(): Context {
  const { AsyncLocalStorage } = (globalThis as Runtime).process?.getBuiltinModule?.('node:async_hooks') ?? {}
  return AsyncLocalStorage?.snapshot?.() ?? ((run) => run())
}

const told = new Set<string>()

/** Tells a mistake that nobody listens for: once in a process, as a warning, where the runtime has warnings. */
export function warnOnce(code: string, message: string): void {
  if (told.has(code)) return
  told.add(code)
  ;(globalThis as Runtime).process?.emitWarning?.(message, {
    type: 'AxiosEvergreenWarning',
    code,
    detail: `Listen to the events of the token manager to be told each time: https://www.npmjs.com/package/axios-evergreen#events`,
  })
}
