/**
 * Runs before every test file: whatever the library lets escape fails the test that was running. Open handles are the
 * third tripwire: jest runs with `--detectOpenHandles` off and must exit by itself (see `npm test`, no `--forceExit`).
 */
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'

// axios would send what goes to loopback by way of a proxy.
for (const name of Object.keys(process.env)) if (/_proxy$/i.test(name)) Reflect.deleteProperty(process.env, name)

const escaped: unknown[] = []
const record = (what: unknown) => void escaped.push(what)

beforeAll(() => {
  process.on('unhandledRejection', record)
  process.on('warning', record)
})

afterEach(async () => {
  // Unhandled rejections are reported after the microtask queue has drained.
  await new Promise((resolve) => setImmediate(resolve))
  expect(escaped.splice(0)).toEqual([])
})

afterAll(() => {
  process.off('unhandledRejection', record)
  process.off('warning', record)
})
