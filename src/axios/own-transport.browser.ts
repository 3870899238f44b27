import type * as full from './own-transport.ts'

/** The adapters of browsers use no transport. */
export const mayFollowByItself: typeof full.mayFollowByItself = () => false

export const OWN_TRANSPORT = ''
