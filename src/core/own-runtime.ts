/** What Node and similar runtimes offer. Looked up when needed, so that no Node import reaches a browser. */
interface Runtime {
  readonly process?: {
    readonly versions?: { readonly node?: string }
    getBuiltinModule?(id: string): unknown
  }
}

/** Runs a function in a captured asynchronous context. */
export type Context = <Result>(run: () => Result) => Result

/** @returns A module of Node, undefined if the runtime does not have it. */
export function builtinModule(id: 'node:async_hooks' | 'node:events' | 'node:http' | 'node:https'): unknown {
  return (globalThis as Runtime).process?.getBuiltinModule?.(id)
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
  'performance.now': () => globalThis.performance.now(),
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

function works(use: (() => unknown) | undefined): boolean {
  try {
    use?.()
    return true
  } catch {
    return false
  }
}

interface Marks {
  run<Result>(mark: Mark, run: () => Result): Result
  getStore(): Mark | undefined
  disable?(): void
}
interface Mark {
  readonly owner: object
  isOpen: boolean
}

interface AsyncHooks {
  readonly AsyncLocalStorage?: new () => Marks
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

let marks: Marks | undefined
let open = 0

/** Runs a call of `owner`. Until it has ended, `isWithin` knows what this call itself asks for, if the runtime has asynchronous contexts. */
export async function runWithin<Result>(owner: object, call: () => Promise<Result>): Promise<Result> {
  const { AsyncLocalStorage } = (builtinModule('node:async_hooks') ?? {}) as AsyncHooks
  if (!AsyncLocalStorage) return call()
  marks ??= new AsyncLocalStorage()
  const mark = { owner, isOpen: true }
  open += 1
  try {
    return await marks.run(mark, call)
  } finally {
    mark.isOpen = false
    open -= 1
    // While it is enabled, each promise of the process costs more.
    if (open === 0) marks.disable?.()
  }
}

export function isWithin(owner: object): boolean {
  const mark = open > 0 ? marks?.getStore() : undefined
  return mark?.owner === owner && mark.isOpen
}
