import { afterAll, afterEach, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../../src/core/option-checks.ts'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { person } from '../../src/login/index.ts'
import { machineNow } from '../../src/sqlite/machine-clock.ts'
import { sqliteRegister } from '../../src/sqlite/sqlite-register.ts'
import { SHARED, storeOn } from '../../src/store/shared-store.ts'
import { manualClock, type ManualClock } from '../../tools/testing/index.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { BetterSqlite, describeSqlite } from '../support/node-sqlite.ts'
import { withActs } from '../support/with-acts.ts'

const folder = mkdtempSync(join(tmpdir(), 'evergreen-clock-set-'))
afterAll(() => rmSync(folder, { recursive: true }))
const opened: { close(): void }[] = []
afterEach(() => opened.splice(0).forEach((database) => database.close()))

let files = 0

/** A machine whose processes share a file. `boot`: now it is another boot, or another machine. */
function machine(clock = manualClock()) {
  const file = join(folder, `${(files += 1)}.db`)
  const now = { boot: 'boot-1' }
  const process = () => {
    const database = new BetterSqlite!(file)
    opened.push(database)
    const { boot } = now
    const register = sqliteRegister(() => database, 100, undefined, clock)
    const machineNow = () => ({ boot, at: clock.monotonicNow() })
    return storeOn(register, readOptions('', {}, SHARED, ''), String, { machineNow }) as OpenableStore
  }
  return { clock, now, process }
}

const reports = { anomaly: () => undefined, storeUnavailable: () => undefined }
const recordOf = (store: OpenableStore, clock: ManualClock) => withActs(store.open('account', clock, reports), clock)

describeSqlite('given a refresh in flight, in another process of the machine', () => {
  it.each([0, 20_000, 3_600_000, -5_000, -30_000])(
    'when the clock is set by %s ms and a process starts, then it waits, and the refresh token is presented once (F403)',
    async (stepMs) => {
      const { clock, process } = machine()
      const source = Object.assign(new ScriptedSource({ pairs: true }), { login: person })
      const owner = () => {
        const renewal = { keepWarm: 'never' } as const
        return manage(source, { store: process(), storeKey: 'a', renewal }, clock)
      }
      const a = owner()
      await a.tokens.adopt({ accessToken: 'first', accessLifetimeMs: 60_000, refreshToken: 'refresh-0' })
      source.takesMs = 2_000
      await clock.advance(100_000)
      const served = outcome(a.tokens.getAccessToken())
      await clock.advance(500)
      clock.stepWall(stepMs)
      const asked = outcome(owner().tokens.getAccessToken())
      await clock.advance(10_000)
      expect([await served, await asked]).toEqual([
        expect.stringMatching(/^access-/),
        expect.stringMatching(/^access-/),
      ])
      // At most one extra renewal.
      const presented = source.calls.map(({ refreshToken }) => refreshToken)
      expect(['refresh-0', 'refresh-1'].slice(0, presented.length)).toEqual(presented)
    },
  )

  it.each([20_000, 3_600_000, -5_000, -30_000])(
    'when that process is dead and the clock is set by %s ms, then its lease ends when it would have ended (F403)',
    async (stepMs) => {
      const { clock, process } = machine()
      await recordOf(process(), clock).acquire('dead', 0, 15_000)
      clock.stepWall(stepMs)
      const here = recordOf(process(), clock)
      expect(await here.acquire('later', 0, 15_000)).toMatchObject({ kind: 'busy', remainingMs: 15_000 })
      await clock.advance(14_999)
      expect(await here.acquire('later', 0, 15_000)).toMatchObject({ kind: 'busy' })
      await clock.advance(1)
      expect(await here.acquire('later', 0, 15_000)).toMatchObject({ kind: 'granted' })
    },
  )

  it.each([20_000, -30_000])(
    'when the machine has booted since, and its clock differs by %s ms, then the wall clock says that the lease is over (F403)',
    async (stepMs) => {
      const { clock, now, process } = machine()
      await recordOf(process(), clock).acquire('before', 0, 15_000)
      now.boot = 'boot-2'
      clock.stepWall(stepMs)
      expect(await recordOf(process(), clock).acquire('after', 0, 15_000)).toMatchObject({ kind: 'granted' })
    },
  )
})

const itLinux = process.platform === 'linux' ? it : it.skip
itLinux('the clock of the machine is that of its boot, and only counts up (F403)', () => {
  const [first, second] = [machineNow(), machineNow()]
  expect(first?.boot).toMatch(/^[0-9a-f-]{36} /)
  expect(second).toEqual({ boot: first?.boot, at: expect.any(Number) })
  expect(second!.at).toBeGreaterThanOrEqual(first!.at)
})
