import { expect, it } from '@jest/globals'
import postgres from 'postgres'
import { postgresRegister } from '../../src/postgres/postgres-register.ts'
import { reasonOf } from '../../src/postgres/reason.ts'
import { outcome } from '../support/managed.ts'
import { describeSharedPostgres } from '../support/postgres-server.ts'
import { realProcess } from '../support/real-process.ts'
import { startProxy } from '../support/tcp-proxy.ts'
import { World } from './world.ts'

const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection', '', ''].join('\0')
/** What a restarting server sends to its clients (PostgreSQL manual, section 55.7, ErrorResponse). */
const TERMINATED = Buffer.concat([Buffer.from('E\0\0\0'), Buffer.from([4 + fields.length]), Buffer.from(fields)])

describeSharedPostgres(
  'given a client of the postgres library, whose server ends the connection at its first query',
  () => {
    const world = new World()

    /** @returns The reason of the step, and the rejections that no code can handle. */
    async function broken(options: { fetch_types?: boolean }) {
      const proxy = await startProxy(Number(new URL(world.url).port))
      const url = world.url.replace(/:\d+\//, `:${new URL(proxy.url).port}/`)
      const sql = postgres(url, { ...options, max: 1, connection: { search_path: world.schema } })
      const register = postgresRegister({
        query: async (text, values) => ({ rows: await sql.unsafe(text, values as string[]) }),
      })
      const escaped: unknown[] = []
      const before = realProcess.listeners('unhandledRejection')
      realProcess.removeAllListeners('unhandledRejection')
      realProcess.on('unhandledRejection', (reason) => escaped.push(reason))
      proxy.cutAt(/select/i, TERMINATED)
      const reason = reasonOf(await outcome(register.read('key')))
      await new Promise(setImmediate)
      realProcess.removeAllListeners('unhandledRejection')
      for (const listener of before) realProcess.on('unhandledRejection', listener)
      await sql.end({ timeout: 0 })
      await proxy.stop()
      return { reason, escaped: escaped.length }
    }

    it('when it fetches types, then it leaves a rejection that no code can handle', async () => {
      expect(await broken({})).toEqual({ reason: '57P01', escaped: 1 })
    })

    it('when it has fetch_types: false, then the step rejects, and nothing else does (F239)', async () => {
      expect(await broken({ fetch_types: false })).toEqual({ reason: 'CONNECTION_CLOSED', escaped: 0 })
    })
  },
)
