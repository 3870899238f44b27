/**
 * Runs before every test file: an unhandled rejection or a process warning fails the test that was running, a server or a
 * timer that is left open fails the file.
 */
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
// jsdom has none of its own.
import { setImmediate } from 'node:timers'
import { realProcess } from './real-process.ts'

// axios would send what goes to loopback by way of a proxy.
for (const name of Object.keys(process.env)) if (/_proxy$/i.test(name)) Reflect.deleteProperty(process.env, name)

const escaped: unknown[] = []
const record = (what: unknown) => {
  // Of mistakes that nobody listens for; tests of their own count them.
  if ((what as Partial<Error> | undefined)?.name !== 'AxiosEvergreenWarning') escaped.push(what)
}
/** Among it the limit that jest sets to its hooks. */
let before: string[] = []

beforeAll(() => {
  realProcess.on('unhandledRejection', record)
  realProcess.on('warning', record)
  before = left()
})

afterEach(async () => {
  // Unhandled rejections are reported after the microtask queue has drained.
  await new Promise((resolve) => setImmediate(resolve))
  expect(escaped.splice(0)).toEqual([])
})

afterAll(async () => {
  realProcess.off('unhandledRejection', record)
  realProcess.off('warning', record)
  // Sockets close a turn or two after their servers. Clients of Redis have timers that nothing ends: up to 5 s, for a connection that fails.
  // Turns are counted, of a ms or more each: a machine that is busy elsewhere has as many as one that is not.
  for (let turn = 0; added().length > 0 && turn < 6_000; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 1))
  expect(added()).toEqual([])
})

function added(): string[] {
  const known = [...before]
  return left().filter((kind) => !known.includes(kind) || (known.splice(known.indexOf(kind), 1), false))
}

/** What would keep a process alive; jest's own pipes and messages aside. */
function left(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => /^(TCPServerWrap|TLSWrap|Timeout)$/.test(kind))
}
