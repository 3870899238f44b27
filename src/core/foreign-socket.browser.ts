import type * as full from './foreign-socket.ts'

/** A browser takes no socket from `Object.prototype`. */
export const foreignSocket: typeof full.foreignSocket = () => undefined
