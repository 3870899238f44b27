// Makes a thread fit for virtual time: nothing in it happens on other threads, for which virtual time does not wait.
import { createHash } from 'node:crypto'

Object.defineProperty(crypto.subtle, 'digest', {
  value: async (_, bytes) => Uint8Array.from(createHash('sha256').update(bytes).digest()).buffer,
})
// Hundreds of thousands of errors are counted, and none is read.
Error.stackTraceLimit = 0
