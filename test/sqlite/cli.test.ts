import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nodeWithSqlite } from '../support/node-sqlite.ts'
import { CliWorld, visit } from './cli-world.ts'

const node = nodeWithSqlite()
const hasSignals = process.platform === 'linux'

/** Whether the process has been stopped. */
const isStopped = async (pid: number) => (await readFile(`/proc/${pid}/stat`, 'utf8')).includes(' T ')

const LOGGED_IN = { code: 0, printed: 'You are alice.' }
const NOT_LOGGED_IN = { code: 1, printed: 'You are not logged in. Run: my-tool login' }

;(node && hasSignals ? describe : describe.skip)('given the example of a command-line tool, and oidc-provider', () => {
  const world = new CliWorld(node!)
  beforeAll(() => world.open())
  afterAll(() => world.close())
  /** The token requests since the test began. */
  let before = 0
  const calls = async () => (await world.tell<string[]>('calls')).slice(before)
  beforeEach(async () => {
    before = (await world.tell<string[]>('calls')).length
  })

  it('when no user has logged in, then it says what to run, and makes no token request', async () => {
    expect(await world.run('whoami')).toEqual(NOT_LOGGED_IN)
    expect(await calls()).toEqual([])
  })

  it('when a user logs in with a browser, then another process has the login, in a file that only its owner can read', async () => {
    const login = world.start('login')
    const address = await login.printed(/^(http.*)$/m)
    // Another program of this machine does not know the state.
    const redirect = new URL(address).searchParams.get('redirect_uri')!
    expect((await fetch(`${redirect}?code=theirs`)).status).toBe(404)
    expect((await visit(address)).page).toMatch(/You may close this page/)
    const { code, printed } = await login.ended
    expect([code, printed]).toEqual([0, expect.stringMatching(/You are logged in\.$/)])
    expect(readFileSync(join(world.folder, 'opened'), 'utf8')).toBe(address)
    expect(await world.run('whoami')).toEqual(LOGGED_IN)
    expect((await calls())[0]).toBe('authorization_code')
    expect(statSync(join(world.folder, 'config', 'my-tool', 'login.db')).mode & 0o777).toBe(0o600)
  })

  it('when five processes start after the access token has expired, then one of them refreshes (F240)', async () => {
    await world.logIn()
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => world.run('whoami')))
    expect(all).toEqual(Array(5).fill(LOGGED_IN))
    expect(await calls()).toEqual(['authorization_code', 'refresh_token'])
  })

  it('when Ctrl-Z arrives during a refresh, then the process stops after it has stored the response, and others continue', async () => {
    await world.logIn()
    await world.tell('hold')
    const { child, ended } = world.start('whoami')
    while ((await world.tell('held')) === 0);
    child.kill('SIGTSTP')
    await world.tell('letGo')
    while (!(await isStopped(child.pid!)));
    expect(await Promise.all([1, 2].map(() => world.run('whoami')))).toEqual([LOGGED_IN, LOGGED_IN])
    child.kill('SIGCONT')
    expect(await ended).toEqual(LOGGED_IN)
    expect(await calls()).toEqual(['authorization_code', 'refresh_token'])
  })

  it('when Ctrl-C arrives during a refresh, then the response is stored, and the login continues', async () => {
    await world.logIn()
    await world.tell('hold')
    const { child, ended } = world.start('whoami')
    while ((await world.tell('held')) === 0);
    child.kill('SIGINT')
    await world.tell('letGo')
    expect((await ended).code).toBe(130)
    expect(await world.run('whoami')).toEqual(LOGGED_IN)
    expect(await calls()).toEqual(['authorization_code', 'refresh_token'])
  })

  it('when a process is frozen while it waits for another, then the others continue, and it continues later', async () => {
    await world.logIn()
    await world.tell('hold')
    const renewing = world.start('whoami')
    while ((await world.tell('held')) === 0);
    const waiting = world.start('whoami')
    waiting.child.kill('SIGSTOP')
    await world.tell('letGo')
    expect(await renewing.ended).toEqual(LOGGED_IN)
    expect(await world.run('whoami')).toEqual(LOGGED_IN)
    waiting.child.kill('SIGCONT')
    expect(await waiting.ended).toEqual(LOGGED_IN)
    expect(await calls()).toEqual(['authorization_code', 'refresh_token'])
  })

  it('when a process logs out, then the server revokes the login, and no process has it any more', async () => {
    await world.logIn()
    expect(await world.run('logout')).toEqual({ code: 0, printed: 'You are logged out.' })
    expect(await world.run('whoami')).toEqual(NOT_LOGGED_IN)
    expect(await calls()).toEqual(['authorization_code', 'revoked'])
  })

  it('when a user logs in by device, then the login works', async () => {
    const login = world.start('login', '--device')
    const code = await login.printed(/enter (\S+)/)
    const address = await login.printed(/open (\S+)/)
    const { page, cookies } = await visit(address)
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)![1]!
    await visit(address, { xsrf, user_code: code }, cookies)
    const { page: last } = await visit(address, { xsrf, user_code: code, confirm: 'yes' }, cookies)
    expect(last).toMatch(/Sign-in Success/)
    expect((await login.ended).printed).toMatch(/You are logged in\.$/)
    expect(await world.run('whoami')).toEqual(LOGGED_IN)
  })
})
