import { quietly } from '../core/thrown.ts'

/** The parts of BroadcastChannel that are used here. */
export interface Channel {
  postMessage(message: string): void
  addEventListener(type: 'message', listener: (event: { readonly data?: unknown }) => void): void
  close(): void
}

/** Opens a channel. Close it soon: a page with an open channel may be denied the back/forward cache. Undefined: BroadcastChannel is not available. */
export function openChannel(name: string): Channel | undefined {
  const { BroadcastChannel } = globalThis as { BroadcastChannel?: new (name: string) => Channel }
  return BroadcastChannel && quietly(() => new BroadcastChannel(name))
}
