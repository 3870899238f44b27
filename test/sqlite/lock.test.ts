import { afterAll, afterEach, describe, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reasonOf } from '../../src/sqlite/reason.ts'
import { sqliteRegister } from '../../src/sqlite/sqlite-register.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { outcome } from '../support/managed.ts'
import { BetterSqlite, nodeWithSqlite } from '../support/node-sqlite.ts'
import { type Holder, holdLock } from './lock-holder.ts'

const HOUR = 3_600_000
const PATIENCE = 1_600
const node = nodeWithSqlite()
const folder = mkdtempSync(join(tmpdir(), 'evergreen-lock-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const accounts = [1, 2, 3, 4].map((n) => `{evergreen:${n}}`)

/** A register whose write attempts are recorded, each with how long SQLite may wait for the lock within the call, ms. */
function openWorld({ mode = 'WAL' } = {}) {
  const file = join(folder, `${(files += 1)}.db`)
  // By default it would wait for this many ms.
  const database = new BetterSqlite!(file, { timeout: 2 })
  ends.push(() => database.close())
  database.exec(`PRAGMA journal_mode = ${mode}`)
  const attempts: number[] = []
  /** The event loop turn of each attempt. */
  const turns: number[] = []
  let turn = 0
  const exec = database.exec.bind(database)
  database.exec = (sql) => {
    if (sql === 'BEGIN IMMEDIATE') {
      const { timeout } = database.prepare('PRAGMA busy_timeout').get() as { timeout: number }
      attempts.push(timeout)
      turns.push(turn)
    }
    return exec(sql)
  }
  const clock = manualClock()
  const setTimer: typeof clock.setTimer = (callback, ...rest) =>
    clock.setTimer(
      () => {
        turn += 1
        callback()
      },
      ...rest,
    )
  const register = sqliteRegister(() => database, PATIENCE, undefined, { ...clock, setTimer })
  const hold = async (): Promise<Holder> => {
    const holder = await holdLock(node!, file)
    ends.push(() => holder.letGo())
    attempts.length = 0
    return holder
  }
  return { file, register, clock, attempts, turns, hold }
}

;(BetterSqlite && node ? describe : describe.skip)(
  'given another process that holds the lock of the file (F299)',
  () => {
    it('when four accounts wait to write for ten seconds, then no call blocks, and one step is attempted at a time', async () => {
      const { register, clock, attempts, hold } = openWorld()
      for (const key of accounts) await register.replace(key, undefined, 'a', HOUR)
      const holder = await hold()
      const writeAll = () => accounts.map((key) => outcome(register.replace(key, 'a', 'b', HOUR)))
      let written = writeAll()
      for (let elapsed = 0; elapsed < 10_000; elapsed += 5) {
        const before = attempts.length
        await clock.advance(5)
        // In this turn of the loop.
        expect(attempts.length - before).toBeLessThanOrEqual(1)
        if (clock.pendingTimers > 0) continue
        // Each of them got an error, and tries again.
        const reasons = (await Promise.all(written)).map(reasonOf)
        expect(reasons).toEqual(Array(4).fill(expect.stringMatching(/^BUSY: another process has held the lock/)))
        written = writeAll()
      }
      expect(attempts.length).toBeGreaterThan(1_000)
      expect(new Set(attempts)).toEqual(new Set([0]))
      await holder.letGo()
      while (clock.pendingTimers > 0) await clock.advance(5)
      expect(await Promise.all(written)).toEqual(Array(4).fill(true))
    })

    it('when it is released in time, then the waiting steps run in their order, one per turn of the loop', async () => {
      const { register, clock, attempts, turns, hold } = openWorld()
      await register.replace('key', undefined, '0', HOUR)
      const holder = await hold()
      const order: string[] = []
      const steps = ['1', '2', '3'].map(async (value, index) => {
        const isStored = await register.replace('key', String(index), value, HOUR)
        order.push(`${value} ${isStored}`)
      })
      await clock.advance(PATIENCE - 5)
      expect([order, new Set(attempts)]).toEqual([[], new Set([0])])
      await holder.letGo()
      await clock.advance(4)
      expect(order).toEqual([])
      await clock.advance(1)
      await Promise.all(steps)
      expect(order).toEqual(['1 true', '2 true', '3 true'])
      expect(new Set(turns.slice(-3)).size).toBe(3)
      expect(clock.pendingTimers).toBe(0)
    })

    it.each(['WAL', 'DELETE'])(
      'when a process opens and reads then, with journal_mode %s, then it does not wait',
      async (mode) => {
        const { file, register, hold } = openWorld({ mode })
        await register.replace('key', undefined, 'a', HOUR)
        const { epoch } = await register.read('key')
        const holder = await hold()
        const fresh = new BetterSqlite!(file)
        ends.push(() => fresh.close())
        const clock = manualClock()
        const reading = await sqliteRegister(() => fresh, PATIENCE, undefined, clock).read('key')
        expect(reading).toEqual({ now: clock.wallNow(), value: 'a', epoch })
        expect(clock.pendingTimers).toBe(0)
        await holder.letGo()
      },
    )

    it('when the table does not exist yet, then the first read waits until it can be created', async () => {
      const { register, clock, hold } = openWorld()
      const holder = await hold()
      const reading = outcome(register.read('key'))
      await clock.advance(PATIENCE - 5)
      expect(clock.pendingTimers).toBe(1)
      await holder.letGo()
      await clock.advance(5)
      expect(await reading).toMatchObject({ epoch: expect.any(String) as unknown })
    })
  },
)
