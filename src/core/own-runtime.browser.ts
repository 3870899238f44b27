import type * as full from './own-runtime.ts'

/** A browser has no asynchronous contexts, and all that a manager uses. */
export type { Context } from './own-runtime.ts'

export const checkRuntime: typeof full.checkRuntime = () => undefined

export const currentContext: typeof full.currentContext = () => (run) => run()
