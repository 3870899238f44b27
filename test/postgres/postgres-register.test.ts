import { describe, expect, it } from '@jest/globals'
import postgres from 'postgres'
import { createTableStatement } from '../../src/postgres/index.ts'
import { type PostgresClient, postgresRegister } from '../../src/postgres/postgres-register.ts'
import { onClock } from '../support/postgres-clock.ts'
import { describeSharedPostgres } from '../support/postgres-server.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { World } from './world.ts'

const KEY = '{evergreen:0123}'
const HOUR = 3_600_000
const twenty = Array.from({ length: 20 }, (_, index) => index)

/** @returns The indexes of the steps that stored their value. No step may reject. */
function winners(results: PromiseSettledResult<unknown>[]): unknown[] {
  expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
  return results.flatMap((result, index) => ('value' in result && result.value === true ? [index] : []))
}

describeSharedPostgres('given a register in PostgreSQL', () => {
  const world = new World()
  const open = () => postgresRegister(world.pool())
  const rows = async () =>
    (await world.admin.query('SELECT * FROM evergreen_tokens ORDER BY key')).rows as {
      keep_until: Date | number
      value: string
    }[]
  /** @returns The time of the server, ms. */
  const serverNow = async () =>
    Number(
      (await world.admin.query<{ ms: string }>('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms')).rows[0]!
        .ms,
    )

  describe('given one owner after the other', () => {
    it('when there is no value, then none is read, and only an owner that expects none stores one', async () => {
      const register = open()
      expect(await register.read(KEY)).toEqual({ now: expect.any(Number) as unknown, epoch: '00000001' })
      expect(await register.replace(KEY, 'a', 'b', HOUR)).toBe(false)
      expect(await register.replace(KEY, '', 'b', HOUR)).toBe(false)
      expect(await rows()).toEqual([])
      expect(await register.replace(KEY, undefined, 'a', HOUR)).toBe(true)
      expect(await open().read(KEY)).toMatchObject({ value: 'a' })
    })

    it('when there is a value, then only an owner that expects that very value replaces it', async () => {
      const register = open()
      await register.replace(KEY, undefined, 'a', HOUR)
      for (const expected of [undefined, '', 'A', 'a ', ' a', 'b'])
        expect(await register.replace(KEY, expected, 'b', HOUR)).toBe(false)
      expect(await register.read(KEY)).toMatchObject({ value: 'a' })
      expect(await register.replace(KEY, 'a', 'b', HOUR)).toBe(true)
      expect(await register.replace(KEY, 'a', 'c', HOUR)).toBe(false)
      expect(await register.read(KEY)).toMatchObject({ value: 'b' })
    })

    it('when it is replaced by itself, then the replacement succeeds', async () => {
      const register = open()
      await register.replace(KEY, undefined, 'a', HOUR)
      expect(await register.replace(KEY, 'a', 'a', HOUR)).toBe(true)
    })

    it('when another key is used, then it shares nothing', async () => {
      const register = open()
      await register.replace(KEY, undefined, 'a', HOUR)
      expect((await register.read(KEY.toUpperCase())).value).toBeUndefined()
      expect(await register.replace(`${KEY} `, undefined, 'b', HOUR)).toBe(true)
      expect(await register.read(KEY)).toMatchObject({ value: 'a' })
    })

    it.each([
      ['empty', ''],
      ['full of quotes', `'; DROP TABLE evergreen_tokens; -- $1 \\ " {}`],
      ['of all alphabets', 'é 漢字 🌲 \u0001 e\u0301'],
      ['300 KB long', 'x'.repeat(300_000)],
      ['10 MB long', 'x'.repeat(10_000_000)],
    ])('when the value is %s, then it is read unchanged, and replaced (F141, F182)', async (_, value) => {
      const register = open()
      expect(await register.replace(KEY, undefined, value, HOUR)).toBe(true)
      expect((await register.read(KEY)).value === value).toBe(true)
      expect(await register.replace(KEY, `${value}-`, 'b', HOUR)).toBe(false)
      expect(await register.replace(KEY, value, 'b', HOUR)).toBe(true)
    })
  })

  describe('given the clock of the server', () => {
    it('when it is read, then now is its time in ms, whatever the local clock shows', async () => {
      const before = await serverNow()
      const { now } = await open().read(KEY)
      expect(now).toBeGreaterThanOrEqual(Math.floor(before))
      expect(now).toBeLessThanOrEqual(Math.ceil(await serverNow()))
      const clock = manualClock({ wallNow: Date.UTC(2001, 1, 3) + 4 })
      const reading = await postgresRegister(onClock(world.pool(), clock)).read(KEY)
      expect(reading.now).toBe(Date.UTC(2001, 1, 3) + 4)
    })

    it.each([
      [999, 'a', [true, false]],
      [1_000, undefined, [false, true]],
      [1_001, undefined, [false, true]],
    ])('when a value is kept for 1000 ms, then %i ms later %s is read', async (ms, value, [replaced, inserted]) => {
      const clock = manualClock()
      const register = postgresRegister(onClock(world.pool(), clock))
      await register.replace(KEY, undefined, 'a', 1_000)
      await clock.advance(ms)
      expect((await register.read(KEY)).value).toBe(value)
      expect(await register.replace(KEY, 'a', 'b', 1_000)).toBe(replaced)
      expect(await register.replace(KEY, undefined, 'c', 1_000)).toBe(inserted)
    })

    it.each(['replaced', 'inserted again'])('when a value is %s, then it is kept for its own time', async (how) => {
      const clock = manualClock()
      const register = postgresRegister(onClock(world.pool(), clock))
      await register.replace(KEY, undefined, 'a', 1_000)
      await clock.advance(how === 'replaced' ? 500 : 1_000)
      await register.replace(KEY, how === 'replaced' ? 'a' : undefined, 'b', 1_000)
      await clock.advance(999)
      expect(await register.read(KEY)).toMatchObject({ value: 'b' })
      await clock.advance(1)
      expect((await register.read(KEY)).value).toBeUndefined()
    })

    it.each([[0.5], [36_525 * 24 * HOUR]])('when it is kept for %d ms, then it can be read', async (keepMs) => {
      const clock = manualClock()
      const register = postgresRegister(onClock(world.pool(), clock))
      expect(await register.replace(KEY, undefined, 'a', keepMs)).toBe(true)
      expect(await register.read(KEY)).toMatchObject({ value: 'a' })
      expect(await register.replace(KEY, 'a', 'b', keepMs)).toBe(true)
      await clock.advance(keepMs > 1 ? 10 * 365 * 24 * HOUR : 0)
      expect(await register.read(KEY)).toMatchObject({ value: 'b' })
    })

    it('when another process deletes expired rows, then no owner sees a difference', async () => {
      const register = open()
      await register.replace(KEY, undefined, 'a', 0)
      await register.replace(`${KEY}2`, undefined, 'b', HOUR)
      await world.admin.query('DELETE FROM evergreen_tokens WHERE keep_until < now()')
      expect((await rows()).map(({ value }) => value)).toEqual(['b'])
      expect(await register.replace(KEY, undefined, 'c', HOUR)).toBe(true)
    })
  })

  describe.each(['read committed', 'repeatable read', 'serializable'])(
    'given twenty owners at once, %s',
    (isolation) => {
      const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
      const race = (expected: string | undefined) => {
        const register = postgresRegister(world.pool({ options, max: 20 }))
        return twenty.map((index) => register.replace(KEY, expected, `by ${index}`, HOUR))
      }
      const won = async (results: PromiseSettledResult<unknown>[]) => {
        const [winner, ...others] = winners(results)
        expect(others).toEqual([])
        expect(await open().read(KEY)).toMatchObject({ value: `by ${String(winner)}` })
      }

      it('when all replace the same value, then one of them does', async () => {
        await open().replace(KEY, undefined, 'a', HOUR)
        const holding = 'SELECT FROM evergreen_tokens FOR UPDATE'
        await won(await world.whileHeld(holding, 'COMMIT', 20, () => race('a')))
      })

      it('when all insert, then one of them does', async () => {
        const holding = `INSERT INTO evergreen_tokens VALUES ('${KEY}', 'undone', now() + interval '1 hour')`
        await won(await world.whileHeld(holding, 'ROLLBACK', 20, () => race(undefined)))
      })

      it('when all insert instead of an expired value, then one of them does', async () => {
        await open().replace(KEY, undefined, 'a', 0)
        const holding = 'SELECT FROM evergreen_tokens FOR UPDATE'
        await won(await world.whileHeld(holding, 'COMMIT', 20, () => race(undefined)))
      })

      it.each([
        ['replaced', `UPDATE evergreen_tokens SET value = 'faster'`],
        ['deleted', 'DELETE FROM evergreen_tokens'],
      ])(
        'when another transaction has %s the value in the meantime, then none of them succeeds',
        async (_, holding) => {
          await open().replace(KEY, undefined, 'a', HOUR)
          expect(winners(await world.whileHeld(holding, 'COMMIT', 20, () => race('a')))).toEqual([])
        },
      )

      it('when another transaction inserts in the meantime, then none of them succeeds', async () => {
        const holding = `INSERT INTO evergreen_tokens VALUES ('${KEY}', 'faster', now() + interval '1 hour')`
        expect(winners(await world.whileHeld(holding, 'COMMIT', 20, () => race(undefined)))).toEqual([])
        expect(await open().read(KEY)).toMatchObject({ value: 'faster' })
      })

      it('when each adds one, and reads again if another was faster, then no addition is lost and each read gets a result', async () => {
        const register = postgresRegister(world.pool({ options, max: 20 }))
        const addOne = async () => {
          for (;;) {
            const { value } = await register.read(KEY)
            if (await register.replace(KEY, value, String(Number(value ?? 0) + 1), HOUR)) return
          }
        }
        await Promise.all(twenty.map(addOne))
        expect(await register.read(KEY)).toMatchObject({ value: '20' })
      })
    },
  )

  describe('given a client of any kind', () => {
    /** As in the guide. `unsafe` is safe in this use: it sends the values separately from the text. */
    const porsager = () => {
      const sql = postgres(world.url, { max: 2, connection: { search_path: world.schema } })
      const query = async (text: string, values: unknown[]) => ({ rows: await sql.unsafe(text, values as never[]) })
      return { client: { query }, end: () => sql.end() }
    }

    it.each<[string, () => { client: PostgresClient; end: () => Promise<void> }]>([
      ['a pg Pool', () => ({ client: world.pool(), end: async () => undefined })],
      ['postgres, with unsafe', porsager],
    ])('when it is %s, then it reads and replaces', async (_, create) => {
      const { client, end } = create()
      const register = postgresRegister(client)
      expect(await register.replace(KEY, undefined, 'é', 1_000.5)).toBe(true)
      expect(await register.replace(KEY, undefined, 'b', HOUR)).toBe(false)
      expect(await register.replace(KEY, 'é', 'c', HOUR)).toBe(true)
      const { now, value } = await register.read(KEY)
      expect(value).toBe('c')
      expect(Math.abs(now - (await serverNow()))).toBeLessThan(HOUR)
      await end()
    })

    it('when the table is in a separate schema, then that one is used', async () => {
      await world.admin.query(createTableStatement(`${world.schema}.Other`))
      const register = postgresRegister(world.pool({ options: '-c search_path=pg_catalog' }), `${world.schema}.Other`)
      expect(await register.replace(KEY, undefined, 'a', HOUR)).toBe(true)
      expect(await rows()).toEqual([])
      expect((await world.admin.query('SELECT value FROM "Other"')).rows).toEqual([{ value: 'a' }])
    })
  })
})
