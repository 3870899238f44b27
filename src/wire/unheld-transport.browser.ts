import type * as full from './unheld-transport.ts'

/** No request keeps a page alive. */
export const unheldTransport: typeof full.unheldTransport = () => undefined
