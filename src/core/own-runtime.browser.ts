import type * as full from './own-runtime.ts'

/** A browser has no modules of Node, no asynchronous contexts, and all that a manager uses. */
export type { Context } from './own-runtime.ts'

export const builtinModule: typeof full.builtinModule = () => undefined

export const checkRuntime: typeof full.checkRuntime = () => undefined

export const currentContext: typeof full.currentContext = () => (run) => run()

export const runWithin: typeof full.runWithin = (_owner, call) => call()

export const isWithin: typeof full.isWithin = () => false

/** A browser takes no socket from `Object.prototype`. */
export const foreignSocket: typeof full.foreignSocket = () => undefined
