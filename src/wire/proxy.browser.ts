import type * as full from './proxy.ts'

/** A page cannot see a proxy. */
export type { Proxy } from './proxy.ts'

export const proxyOf: typeof full.proxyOf = () => undefined

export const throughProxy: typeof full.throughProxy = () => undefined

export const checkNotFromProxy: typeof full.checkNotFromProxy = (response) => response

export const CHECK_PROXY = ''
