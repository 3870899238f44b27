import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { programsOf } from './support/programs.ts'
import { type MigrationSite, startMigrationSite } from './support/site.ts'

/** Requests before the change, and after it. */
const HALF = 220

describe('given a program that uses @azure/msal-node, whose user has logged in at oidc-provider', () => {
  let folder: string
  let site: MigrationSite
  let cache: string
  beforeEach(async () => {
    folder = await programsOf('msal-node', 'node')
    site = await startMigrationSite(folder)
    cache = join(mkdtempSync(join(tmpdir(), 'migrating-')), 'cache.json')
  })
  afterEach(async () => {
    rmSync(join(cache, '..'), { recursive: true })
    await site.close()
  })

  /** @returns What the code in this process prints. */
  async function run(program: 'before' | 'after', code: string): Promise<unknown> {
    const METADATA = JSON.parse(site.metadata) as string
    const { token_endpoint: TOKEN_ENDPOINT } = JSON.parse(METADATA) as Record<string, string>
    const env = { ...process.env, API: `${site.page}/api`, CACHE: cache, METADATA, TOKEN_ENDPOINT }
    const file = JSON.stringify(pathToFileURL(resolve(folder, program, 'main.js')).href)
    const script = `import { app } from ${file}\nconsole.log(JSON.stringify(await (async () => {${code}})()))\nprocess.exit()`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env })
    return JSON.parse(stdout) as unknown
  }

  it('when the next release uses this package instead, then the user stays logged in, no request is lost, and the old cache is gone', async () => {
    const { code, code_verifier: codeVerifier, redirect_uri: redirectUri } = await site.redeemable()
    const request = JSON.stringify({ code, codeVerifier, redirectUri, scopes: ['orders'] })
    const script = `await app.logIn(${request}); const wrong = await app.sendAll(0, ${HALF / 2}); await app.renew(); return wrong`
    const wrong = [await run('before', script), await run('before', `return app.sendAll(${HALF / 2}, ${HALF})`)]
    const before = await site.counts()
    expect(before).toEqual({ logins: 1, refreshes: 1, reuseAlarms: 0, rejected: 0, served: HALF })
    expect(existsSync(cache)).toBe(true)

    wrong.push(await run('after', `return app.sendAll(${HALF}, ${2 * HALF})`))
    expect(wrong.flat()).toEqual([])
    expect(await site.counts()).toEqual({ ...before, refreshes: 2, served: 2 * HALF })
    expect(existsSync(cache)).toBe(false)
  })
})
