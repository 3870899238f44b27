import { builtinModule } from './builtin-module.ts'

interface Calls {
  run<Result>(current: Call, run: () => Result): Result
  getStore(): Call | undefined
  disable?(): void
}
interface Call {
  readonly owner: object
  isOpen: boolean
}

interface AsyncHooks {
  readonly AsyncLocalStorage?: new () => Calls
}

let calls: Calls | undefined
let open = 0

/** Runs a call of `owner`. Until the call ends, `isWithin` recognizes requests made by the call, if the runtime supports asynchronous contexts. */
export async function runWithin<Result>(owner: object, call: () => Promise<Result>): Promise<Result> {
  const { AsyncLocalStorage } = (builtinModule('node:async_hooks') ?? {}) as AsyncHooks
  if (!AsyncLocalStorage) return call()
  calls ??= new AsyncLocalStorage()
  const current = { owner, isOpen: true }
  open += 1
  try {
    return await calls.run(current, call)
  } finally {
    current.isOpen = false
    open -= 1
    // While enabled, AsyncLocalStorage makes every promise of the process more expensive.
    if (open === 0) calls.disable?.()
  }
}

/** Whether the current code runs within a call of `owner`. */
export function isWithin(owner: object): boolean {
  const current = open > 0 ? calls?.getStore() : undefined
  return current?.owner === owner && current.isOpen
}
