import { builtinModule } from './builtin-module.ts'

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
