import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { Pool, type PoolConfig } from 'pg'
import { createTableStatement } from '../../src/postgres/index.ts'
import { findPostgres } from '../support/postgres-server.ts'

/** One server for a test file, with its own schema. The table is empty before each test. */
export class World {
  url = ''
  readonly schema = `evergreen_${randomUUID().replaceAll('-', '')}`
  admin!: Pool
  readonly #ends: (() => Promise<void>)[] = []

  constructor(find: typeof findPostgres = findPostgres) {
    let server: Awaited<ReturnType<typeof findPostgres>>
    beforeAll(async () => {
      server = await find()
      this.url = server.url
      this.admin = new Pool({ connectionString: server.url, options: this.#inSchema })
      await this.admin.query(`CREATE SCHEMA ${this.schema}`)
      await this.admin.query(createTableStatement())
    })
    beforeEach(() => this.admin.query('TRUNCATE evergreen_tokens'))
    afterEach(async () => {
      for (const end of this.#ends.splice(0)) await end()
    })
    afterAll(async () => {
      await this.admin.query(`DROP SCHEMA ${this.schema} CASCADE`)
      await this.admin.end()
      await server.stop()
    })
  }

  /** A pool of connections, as in a process, with the tables of this file. */
  pool({ options = '', ...config }: PoolConfig = {}): Pool {
    const pool = new Pool({ connectionString: this.url, options: `${this.#inSchema} ${options}`, ...config })
    // Without a listener, an error of an idle connection would end the process.
    pool.on('error', () => undefined)
    this.#ends.push(async () => (pool.ended ? undefined : pool.end()))
    return pool
  }

  /** Runs while another transaction holds the key: owners that replace the key in the meantime wait until that transaction ends. */
  async whileHeld(
    holding: string,
    end: 'COMMIT' | 'ROLLBACK',
    waiting: number,
    run: () => Promise<unknown>[],
    meanwhile?: (processes: number[]) => Promise<unknown>,
  ): Promise<PromiseSettledResult<unknown>[]> {
    const other = await this.admin.connect()
    await other.query('BEGIN')
    await other.query(holding)
    const results = Promise.allSettled(run())
    let processes: number[] = []
    while (processes.length < waiting) processes = await this.#waiting()
    await meanwhile?.(processes)
    await other.query(end)
    other.release()
    return results
  }

  /** @returns Server processes that wait for a lock in the table of this file. */
  async #waiting(): Promise<number[]> {
    const { rows } = await this.admin.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = $1`,
      [this.schema],
    )
    return rows.map(({ pid }) => pid)
  }

  get #inSchema(): string {
    return `-c search_path=${this.schema} -c application_name=${this.schema}`
  }
}
