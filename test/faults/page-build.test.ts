import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startApi } from '../axios/support/api-server.ts'
import { type BuiltPackage, buildPackage } from '../support/built-package.ts'

/** A bundler uses the files for pages wherever its platform is `browser`, even for a server. */
let built: BuiltPackage
let socketDir: string
beforeAll(async () => {
  built = await buildPackage()
  socketDir = await mkdtemp(join(tmpdir(), 'evergreen-'))
})
afterAll(() => Promise.all([built.remove(), rm(socketDir, { recursive: true })]))

/** @returns The output of the program after esbuild had bundled it for a page. */
async function printedBy(program: string, where: object): Promise<unknown> {
  const head = `
    import axios from 'axios'
    import { attachBearer, createTokenManager } from 'axios-evergreen'
    import { withBearer } from 'axios-evergreen/fetch'
    const where = ${JSON.stringify(where)}
    const source = { id: 'own', obtain: async () => ({ accessToken: 'SECRET', accessLifetimeMs: 60_000 }) }
    const tokens = createTokenManager({ source })
    const told = []
    tokens.on('anomaly', ({ kind }) => void told.push(kind))
    const failure = (sending) => sending.then(({ status }) => status, ({ name, message }) => name + ': ' + message)
    const print = (value) => process.stdout.write(JSON.stringify(value))
  `
  const [entry, bundle] = ['entry.mjs', 'bundle.mjs'].map((name) => join(built.dir, name)) as [string, string]
  await writeFile(entry, head + program)
  const esbuild = resolve('node_modules', 'esbuild', 'bin', 'esbuild')
  const how = [
    '--bundle',
    '--format=esm',
    '--platform=browser',
    '--external:axios',
    '--external:follow-redirects',
    '--external:*/testing',
  ]
  await promisify(execFile)(process.execPath, [esbuild, entry, ...how, `--outfile=${bundle}`])
  const { code, printed } = await built.run([bundle])
  if (code !== 0) throw new Error(printed)
  return JSON.parse(printed)
}

describe('given a bundle for pages that runs in Node', () => {
  it('when a request has a transport that follows redirects, then it is sent without a token, and an anomaly reports it (F366)', async () => {
    const other = await startApi()
    const server = await startApi(() => ({ status: 302, headers: { Location: `${other.baseUrl}/there` } }))
    const program = `
      import following from 'follow-redirects'
      const http = process.getBuiltinModule('node:http')
      const api = axios.create({ adapter: 'http', proxy: false, baseURL: where.api, validateStatus: () => true })
      attachBearer(api, tokens, { header: 'X-Token' })
      await tokens.getAccessToken()
      await api.get('/', { transport: following.http })
      await api.get('/', { transport: http })
      print(told)
    `
    expect(await printedBy(program, { api: server.baseUrl })).toEqual(['custom-transport'])
    expect(server.received.map(({ headers }) => headers['x-token'])).toEqual([undefined, 'Bearer SECRET'])
    expect(other.received.map(({ headers }) => headers['x-token'])).toEqual([undefined])
  })

  it('when there is a socket on Object.prototype, then neither axios nor fetch sends anything (F366)', async () => {
    const socket = join(socketDir, 'socket')
    const [server, theirs] = [await startApi(), await startApi(undefined, socket)]
    const program = `
      const api = axios.create({ adapter: 'fetch', baseURL: where.api })
      attachBearer(api, tokens)
      const attached = withBearer(fetch, tokens, { origins: [where.api] })
      Object.prototype.socketPath = where.socket
      const outcomes = [await failure(api.get('/')), await failure(attached(where.api + '/'))]
      delete Object.prototype.socketPath
      print(outcomes)
    `
    const refused = expect.stringMatching(/^TypeError: Object\.prototype\.socketPath is set/)
    expect(await printedBy(program, { api: server.baseUrl, socket })).toEqual([refused, refused])
    expect([server.received, theirs.received]).toEqual([[], []])
  })

  it('when a source requests a token from its own manager, then it gets an error at once, as in every build (F366)', async () => {
    const program = `
      import { manualClock } from 'axios-evergreen/testing'
      const own = { id: 'circle', obtain: () => circle.getAccessToken() }
      // Its time never passes.
      const circle = createTokenManager({ source: own, clock: manualClock(), retry: { maxAttempts: 1 } })
      print(await failure(circle.getAccessToken()))
    `
    expect(await printedBy(program, {})).toMatch(/waits? for itself/)
  })
})
