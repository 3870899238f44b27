// Makes a thread fit for virtual time, which does not wait for other threads: digests are computed on this thread.
import { createHash } from 'node:crypto'

Object.defineProperty(crypto.subtle, 'digest', {
  value: async (_, bytes) => Uint8Array.from(createHash('sha256').update(bytes).digest()).buffer,
})
// The run makes hundreds of thousands of errors, whose stacks are not used.
Error.stackTraceLimit = 0
