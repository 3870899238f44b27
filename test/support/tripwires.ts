/**
 * Runs before every test file. An unhandled rejection or a process warning fails the test that was running. A server or a
 * timer that is left open fails the file.
 */
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
// jsdom has no setImmediate.
import { setImmediate } from 'node:timers'
import { realProcess } from './real-process.ts'
import { stopAll } from './stopped.ts'

// With these variables axios would send requests for loopback to a proxy.
for (const name of Object.keys(process.env)) if (/_proxy$/i.test(name)) Reflect.deleteProperty(process.env, name)

const escaped: unknown[] = []
/** The library warns of mistakes if there is no anomaly listener: other tests count these warnings. Some releases of Node warn of their own parts. */
const EXPECTED = ['AxiosEvergreenWarning', 'ExperimentalWarning']
const record = (what: unknown) => {
  if (!EXPECTED.includes((what as Partial<Error> | undefined)?.name ?? '')) escaped.push(what)
}
/** What was open before the tests of the file, such as jest's timer for its hooks. */
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
  await stopAll()
  realProcess.off('unhandledRejection', record)
  realProcess.off('warning', record)
  // Sockets close a turn or two after their servers. Redis clients have timers of up to 5 s that nothing ends, for a connection that fails.
  // The limit counts turns of a ms or more, not time, so that a busy machine has as many as an idle one.
  for (let turn = 0; added().length > 0 && turn < 6_000; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 1))
  expect(added()).toEqual([])
})

function added(): string[] {
  const known = [...before]
  return left().filter((kind) => !known.includes(kind) || (known.splice(known.indexOf(kind), 1), false))
}

/** @returns What would keep a process alive, except for the pipes and messages of jest. */
function left(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => /^(TCPServerWrap|TLSWrap|Timeout)$/.test(kind))
}
