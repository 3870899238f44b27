import { deepEqual, equal, fail, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type CheckedRegister, recorded, type Step, unexplainedIn } from './history.ts'

type Opened = Awaited<ReturnType<Parameters<typeof tokenRegisterChecks>[0]>>

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const OWNERS = 20
const ROUNDS = 25
/** A pause in which a faulty register may drop a text too early. */
const PAUSE_MS = 300

/**
 * The checks of a `TokenRegister`, for any test runner: `for (const { name, run } of tokenRegisterChecks(create)) it(name, run)`.
 *
 * @example
 * ```ts
 * import { it } from 'node:test'
 * import { tokenRegisterChecks } from 'axios-evergreen/testing'
 *
 * for (const { name, run } of tokenRegisterChecks(() => Promise.resolve({ register }))) it(name, run)
 * ```
 * @param create Opens the register, each time on a new connection if it uses connections. All opened registers must share their values. `end` closes it.
 * @returns The checks. `run` rejects with an `AssertionError` that names the expectation.
 */
export function tokenRegisterChecks(
  create: () => Promise<{
    register: {
      readonly kind: string
      read(key: string): Promise<{
        readonly value?: string | undefined
        readonly now: number
        readonly epoch?: string | null | undefined
      }>
      replace(
        key: string,
        expected: string | undefined,
        value: string,
        keepMs: number,
        epoch?: string,
      ): Promise<boolean>
    }
    end?: () => Promise<void>
  }>,
): { name: string; run: () => Promise<void> }[] {
  return Object.entries(CHECKS).map(([name, check]) => ({
    name,
    async run() {
      const opened: Opened[] = []
      const open = async () => {
        const next = await create()
        opened.push(next)
        return next.register
      }
      try {
        await check(open, `{checks:${randomUUID()}}`)
      } finally {
        for (const { end } of opened) await end?.()
      }
    },
  }))
}

const CHECKS: Record<string, (open: () => Promise<CheckedRegister>, key: string) => Promise<void>> = {
  async 'a register names its kind'(open) {
    const { kind } = await open()
    ok(typeof kind === 'string' && kind !== '', 'kind must be a word, such as redis')
  },

  async 'a missing value is read as undefined'(open, key) {
    const { value, now } = await (await open()).read(key)
    equal(value, undefined)
    ok(now > Date.UTC(2000, 0) && now < Date.UTC(2200, 0), `now must be epoch ms, got ${now}`)
  },

  async 'every connection reads a stored value'(open, key) {
    equal(await (await open()).replace(key, undefined, 'a', HOUR_MS), true)
    equal((await (await open()).read(key)).value, 'a')
  },

  async 'a value is replaced only if it is the expected one'(open, key) {
    const register = await open()
    // Two records of one account begin alike.
    const start = 'x'.repeat(1_000)
    await register.replace(key, undefined, `${start}a`, HOUR_MS)
    for (const expected of [undefined, '', start, `${start}A`, `${start}a `, `${start}b`])
      equal(await register.replace(key, expected, 'b', HOUR_MS), false)
    equal((await register.read(key)).value, `${start}a`)
    equal(await register.replace(key, `${start}a`, 'b', HOUR_MS), true)
    equal((await register.read(key)).value, 'b')
  },

  async 'a missing value is stored only if none is expected'(open, key) {
    const register = await open()
    equal(await register.replace(key, 'a', 'b', HOUR_MS), false)
    equal((await register.read(key)).value, undefined)
  },

  async 'a step that is executed twice changes nothing the second time'(open, key) {
    const register = await open()
    await register.replace(key, undefined, 'a', HOUR_MS)
    await register.replace(key, 'a', 'b', HOUR_MS)
    equal(await register.replace(key, 'a', 'b', HOUR_MS), false)
    equal(await register.replace(key, undefined, 'a', HOUR_MS), false)
    equal((await register.read(key)).value, 'b')
  },

  async 'any text is stored unchanged'(open, key) {
    const register = await open()
    let expected: string | undefined
    for (const value of [`{"a":"b"}`, `';-- $1 \\ "{}`, 'é 漢字 🌲', ' a\n', 'x'.repeat(100_000)]) {
      equal(await register.replace(key, expected, value, HOUR_MS), true)
      ok((await register.read(key)).value === value, `read a text other than ${value.slice(0, 20)}`)
      expected = value
    }
  },

  async 'a value can be kept for a hundred years'(open, key) {
    const register = await open()
    equal(await register.replace(key, undefined, 'a', 876_600 * HOUR_MS), true)
    equal((await register.read(key)).value, 'a')
  },

  async 'keys are independent'(open, key) {
    const register = await open()
    await register.replace(key, undefined, 'a', HOUR_MS)
    equal(await register.replace(`${key}2`, undefined, 'b', HOUR_MS), true)
    deepEqual([(await register.read(key)).value, (await register.read(`${key}2`)).value], ['a', 'b'])
  },

  async 'of many concurrent first writes, one succeeds'(open, key) {
    await race(open, key, undefined)
  },

  async 'of many concurrent replacements, one succeeds'(open, key) {
    await (await open()).replace(key, undefined, 'before', HOUR_MS)
    await race(open, key, 'before')
  },

  async 'concurrent increments lose no update'(open, key) {
    const count = async (register: CheckedRegister) => {
      // Each of the other owners succeeds once, so each defeats at most one attempt of this one. A database may abort a few more.
      for (let turn = 0; turn < 4 * OWNERS; turn += 1) {
        const { value } = await register.read(key)
        if (await register.replace(key, value, String(Number(value ?? 0) + 1), HOUR_MS)) return
      }
      fail(`replace returned false ${4 * OWNERS} times, although the value can only have changed ${OWNERS - 1} times`)
    }
    const registers = await Promise.all(Array.from({ length: OWNERS }, open))
    await Promise.all(registers.map(count))
    equal((await registers[0]?.read(key))?.value, String(OWNERS))
  },

  async 'the history of many owners is linearizable, and no value is dropped early'(open, key) {
    const steps: Step[] = []
    const note = (step: Step) => void steps.push(step)
    const registers = await Promise.all(Array.from({ length: OWNERS }, async () => recorded(await open(), note)))
    for (let round = 0; round < ROUNDS; round += 1) {
      // A database may abort a step. Whether it was executed is then unknown.
      const turn = async (register: CheckedRegister, owner: number) => {
        const { value, epoch } = await register.read(key)
        for (const text of ['first', 'again'])
          await register.replace(key, value, `${round} ${owner} ${text}`, MINUTE_MS, epoch ?? undefined)
      }
      const turns = registers.map((register, owner) => turn(register, owner).catch(() => undefined))
      await Promise.all(turns)
      if (round % 5 === 0) await pause(PAUSE_MS)
    }
    equal(unexplainedIn(steps), undefined)
  },

  async 'the clock does not go back, and the epoch does not change'(open, key) {
    const register = await open()
    const first = await register.read(key)
    let { now } = first
    for (let n = 0; n < 10; n += 1) {
      const next = await register.read(key)
      ok(next.now >= now, `now went back from ${now} to ${next.now}`)
      equal(next.epoch, first.epoch)
      now = next.now
    }
  },
}

async function race(open: () => Promise<CheckedRegister>, key: string, expected: string | undefined): Promise<void> {
  const registers = await Promise.all(Array.from({ length: OWNERS }, open))
  const replies = await Promise.all(
    registers.map((register, n) => register.replace(key, expected, `owner ${n}`, HOUR_MS)),
  )
  const winners = replies.flatMap((replaced, n) => (replaced ? [`owner ${n}`] : []))
  equal(winners.length, 1, `exactly one of ${OWNERS} must get true, got ${winners.join(', ') || 'none'}`)
  equal((await registers[0]?.read(key))?.value, winners[0])
}
