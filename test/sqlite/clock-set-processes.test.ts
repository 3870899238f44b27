import { afterAll, afterEach, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, withChildren } from '../faults/support/child.ts'
import { listening } from '../service/world.ts'
import { describeSqlite } from '../support/node-sqlite.ts'

withChildren()

const folder = mkdtempSync(join(tmpdir(), 'evergreen-processes-'))
afterAll(() => rmSync(folder, { recursive: true }))
const ends: (() => void)[] = []
afterEach(() => ends.splice(0).forEach((end) => end()))

/** A login with single-use refresh tokens: to present a used one ends it. The first response is held. */
async function strictService() {
  const presented: string[] = []
  let first: (() => void) | undefined
  let arrived = () => {}
  const isHeld = new Promise<void>((resolve) => (arrived = resolve))
  const answer = (response: ServerResponse, refreshToken: string | null) => {
    const n = presented.length
    const isUsed = refreshToken !== `refresh-${n - 1}`
    const grant = {
      access_token: `access-${n}`,
      token_type: 'Bearer',
      expires_in: 3_600,
      refresh_token: `refresh-${n}`,
    }
    response.writeHead(isUsed ? 400 : 200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(isUsed ? { error: 'invalid_grant' } : grant))
  }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const refreshToken = new URLSearchParams(body).get('refresh_token')
      presented.push(String(refreshToken))
      if (presented.length > 1) {
        answer(response, refreshToken)
        return
      }
      first = () => answer(response, refreshToken)
      arrived()
    })
  })
  ends.push(
    () => server.closeAllConnections(),
    () => void server.close(),
  )
  return { url: `http://${await listening(server)}`, presented, isHeld, letGo: () => first?.() }
}

/** Another wall clock for one process. Its monotonic clock and its boot are those of the machine. */
const setBy = (ms: number) =>
  `data:text/javascript,${encodeURIComponent(`
  const { now } = Date
  Date.now = () => now() + ${ms}
  globalThis.Date = class extends Date { constructor(...given) { super(...(given.length > 0 ? given : [Date.now()])) } }
`)}`

const program = (file: string, url: string) => `
  import { createRequire } from 'node:module'
  const Database = createRequire(${JSON.stringify(join(__dirname, 'package.json'))})('better-sqlite3')
  const database = new Database(${JSON.stringify(file)})
  // It has asked for the lease, and asks again: another process has it.
  let steps = 0
  const exec = database.exec.bind(database)
  database.exec = (sql) => {
    if (/^BEGIN/.test(sql) && (steps += 1) === 6) say('waits')
    return exec(sql)
  }
  const { oauth2, sqliteStore } = evergreen
  const endpoints = { tokenEndpoint: ${JSON.stringify(url)} + '/token', clientId: 'client', clientAuthentication: 'none' }
  const source = oauth2({ ...endpoints, grant: 'login', account: 'alice', transport: { proxy: false } })
  const tokens = createTokenManager({ source, store: sqliteStore({ database }), renewal: { keepWarm: 'never' } })
  tokens.on('anomaly', () => undefined)
  say('ahead ' + (Date.now() - performance.timeOrigin - performance.now()))
  await heard('ask')
  if (process.env.LOGIN) await tokens.adopt({ accessToken: null, refreshToken: 'refresh-0' })
  const told = await tokens.getAccessToken().catch((error) => error.code + ' ' + error.message)
  say('served ' + told)
  await tokens.close()
`

const itLinux = process.platform === 'linux' ? it : it.skip

describeSqlite('given two processes that share a file, and a strict service', () => {
  itLinux.each([20_000, 3_600_000, -5_000, -30_000])(
    'when one has a refresh in flight, and the other starts after the clock was set by %s ms, then each refresh token is presented once (F403)',
    async (stepMs) => {
      const { url, presented, isHeld, letGo } = await strictService()
      const file = join(folder, `${stepMs}.db`)
      const start = (before: string, flags: string[] = []) => {
        const child = run(before + program(file, url), flags)
        child.tell('ask')
        return child
      }
      const a = start(`process.env.LOGIN = 'yes'\n`)
      await isHeld
      const b = start('', ['--import', setBy(stepMs)])
      expect(Math.round(Number(await b.said('ahead ')) / 1_000)).toBe(stepMs / 1_000)
      await Promise.race([b.said('waits'), b.said('served')])
      letGo()
      const served = [await a.said('served '), await b.said('served ')]
      expect(served).toEqual([expect.stringMatching(/^access-/), expect.stringMatching(/^access-/)])
      // At most one extra renewal: the process may not know how old the tokens are.
      expect(['refresh-0', 'refresh-1'].slice(0, presented.length)).toEqual(presented)
    },
  )
})
