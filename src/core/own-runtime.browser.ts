import type * as full from './own-runtime.ts'

/** The build for browsers, which have everything that a manager uses, but no asynchronous contexts. */
export type { Context } from './own-runtime.ts'

export const checkRuntime: typeof full.checkRuntime = () => undefined

export const currentContext: typeof full.currentContext = () => (run) => run()
