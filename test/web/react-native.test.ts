import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { runInContext } from 'node:vm'
import { TokenError } from '../../src/index.ts'
import { scriptBlocks } from '../support/document-code.ts'
import { POLYFILLS, REACT_NATIVE, startApp, withKeychain } from './phone.mjs'
import { person } from '../../src/login/index.ts'

let bundle: string
beforeAll(async () => {
  const esbuild = resolve('node_modules', 'esbuild', 'bin', 'esbuild')
  const args = [esbuild, '--bundle', '--format=iife', '--global-name=evergreen', '--platform=browser']
  const entries = ['index', 'oauth2/index', 'store/index'].map((name) => `export * from './src/${name}.ts'`)
  const bundled = promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 })
  bundled.child.stdin!.end(entries.join('\n'))
  bundle = (await bundled).stdout
})

/** @returns The error of `createTokenManager`, or the token of a first request. */
function firstUse(globals: object): Promise<string> {
  const context = startApp(bundle, globals)
  return runInContext(
    `(async () => {
      try {
        const obtain = async () => ({ accessToken: 'token-1', accessLifetimeMs: 60_000 })
        const tokens = evergreen.createTokenManager({ source: { id: 'own', obtain } })
        const token = await tokens.getAccessToken()
        await tokens.close()
        return token
      } catch (error) {
        return error.name + ': ' + error.message
      }
    })()`,
    context,
  ) as Promise<string>
}

class UnfinishedUrl {
  get origin(): string {
    throw new Error('URL.origin is not implemented')
  }
}

describe('given React Native (F248)', () => {
  it('when no polyfill is loaded, then creating a manager reports what is missing', async () => {
    expect(await firstUse({ ...REACT_NATIVE, URL: UnfinishedUrl })).toBe(
      'TypeError: This runtime lacks crypto.getRandomValues, TextDecoder, URL: load polyfills before axios-evergreen (for React Native, docs/works-with.md names them)',
    )
  })

  it.each(['crypto', 'TextDecoder', 'URL', 'AbortController', 'TextEncoder', 'URLSearchParams', 'performance'])(
    'when only %s is missing, then that is reported',
    async (name) => {
      const { [name]: _, ...globals } = { ...REACT_NATIVE, ...POLYFILLS } as Record<string, unknown>
      expect(await firstUse(globals)).toContain(`TypeError: This runtime lacks ${name}`)
    },
  )

  it('when the polyfills are loaded, then tokens arrive', async () => {
    expect(await firstUse({ ...REACT_NATIVE, ...POLYFILLS })).toBe('token-1')
  })

  it('F286: when a polyfill is missing, then oauth2() reports it in the same sentence', () => {
    const context = startApp(bundle, { ...REACT_NATIVE, ...POLYFILLS, URL: UnfinishedUrl })
    const create = `evergreen.oauth2({ tokenEndpoint: 'https://id.example.com/token', clientId: 'app', grant: 'login' })`
    expect(() => void runInContext(create, context)).toThrow(
      /^This runtime lacks URL: load polyfills before axios-evergreen/,
    )
  })

  it('F286: when there is no crypto.subtle, then a shared store names what to load', () => {
    const context = startApp(bundle, { ...REACT_NATIVE, ...POLYFILLS })
    const create = `evergreen.sharedStore({ kind: 'keychain', read() {}, replace() {} })`
    expect(() => void runInContext(create, context)).toThrow(
      /^A shared store needs crypto\.subtle, which this runtime lacks: load a polyfill .*docs\/works-with\.md names one/,
    )
  })

  /** The register of the page. */
  const { code } = scriptBlocks().find((block) => block.code.includes('expo-secure-store'))!

  it('F286: when the register of the page keeps a login in the keychain, then it survives restarts and rotations', async () => {
    const kept = new Map<string, string>()
    const names: string[] = []
    const presented: string[] = []
    const globals = {
      SecureStore: {
        getItemAsync: async (name: string) => kept.get(name) ?? null,
        setItemAsync: async (name: string, value: string) => {
          names.push(name)
          kept.set(name, value)
        },
      },
      makeSource: () => ({
        id: 'app',
        login: person,
        obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'Log in')),
        refresh: async (token: string) => {
          presented.push(token)
          const n = presented.length
          return { accessToken: `access-${n}`, accessLifetimeMs: 60_000, refreshToken: `refresh-${n}` }
        },
      }),
    }
    const start = (act: string) => withKeychain(bundle, globals, code, act)
    expect(await start(`await tokens.adopt({ refreshToken: 'refresh-0' })`)).toBe('access-1')
    expect(await start('')).toBe('access-1')
    expect(await start('await tokens.renew()')).toBe('access-2')
    expect(await start('await tokens.renew()')).toBe('access-3')
    expect(presented).toEqual(['refresh-0', 'refresh-1', 'refresh-2'])
    for (const name of names) expect(name).toMatch(/^[\w.-]+$/)
  })

  describe('and a login in the keychain, with a process that is killed in the middle of a refresh', () => {
    let folder: string
    let service: Service
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'phone-'))
      await writeFile(join(folder, 'bundle.js'), bundle)
      service = await startService()
    })
    afterEach(async () => {
      await service.close()
      await rm(folder, { recursive: true })
    })

    /** Starts the application. @returns Its output; if it hangs, it is killed then. */
    async function run(given: { act?: string; laterMs?: number; holdAt?: string }): Promise<Said> {
      const files = { bundle: join(folder, 'bundle.js'), keychain: join(folder, 'keychain.json') }
      const settings = { act: '', laterMs: 0, code, tokenEndpoint: service.tokenEndpoint, ...files, ...given }
      const app = fork('test/web/phone-process.mjs', [JSON.stringify(settings)], { execArgv: [] })
      const ended = once(app, 'exit')
      const [said] = (await once(app, 'message')) as [Said]
      if (said.isStill) app.kill('SIGKILL')
      const [status, signal] = (await ended) as [number | null, string | null]
      expect([status, signal]).toEqual(said.isStill ? [null, 'SIGKILL'] : [0, null])
      return said
    }
    const MINUTE_MS = 60_000
    /** The store cannot know that the keychain encrypts its values. */
    const SEALED_ELSEWHERE = 'tokens-unencrypted'
    const logIn = { act: `await tokens.adopt({ refreshToken: 'refresh-0' })` }
    /** The access token has expired, and so has the lease of the killed process. */
    const later = { laterMs: 2 * MINUTE_MS }

    it.each([
      ['the call', 'access-2', ['refresh-0', 'refresh-1']],
      ['the answer', 'access-3', ['refresh-0', 'refresh-1', 'refresh-1']],
      ['the write', 'access-3', ['refresh-0', 'refresh-1', 'refresh-1']],
    ])(
      'F286: when it is killed before %s, and the server accepts a used refresh token for a while, then the login is kept',
      async (holdAt, token, presented) => {
        service.isForgiving = true
        expect(await run(logIn)).toMatchObject({ token: 'access-1' })
        expect(await run({ act: 'await tokens.renew()', laterMs: MINUTE_MS, holdAt })).toEqual({ isStill: true })
        expect(await run(later)).toEqual({ token, events: [SEALED_ELSEWHERE] })
        expect(service.presented).toEqual(presented)
      },
    )

    it.each(['the answer', 'the write'])(
      'F286: when it is killed before %s, and the server does not, then the user logs in once, and there is no alarm',
      async (holdAt) => {
        await run(logIn)
        await run({ act: 'await tokens.renew()', laterMs: MINUTE_MS, holdAt })
        const { error, events } = await run(later)
        expect(error).toBe('ERR_LOGIN_REQUIRED')
        // Its own presentation is reported, at the lowest of three levels.
        expect(events).toEqual([SEALED_ELSEWHERE, 'own-unknown-outcome, low'])
        const again = { ...later, act: `await tokens.adopt({ refreshToken: 'refresh-9' })` }
        expect(await run(again)).toEqual({ token: 'access-3', events: [SEALED_ELSEWHERE] })
        expect(await run({ ...later, act: 'await tokens.renew()' })).toEqual({
          token: 'access-4',
          events: [SEALED_ELSEWHERE],
        })
        expect(service.presented).toEqual(['refresh-0', 'refresh-1', 'refresh-1', 'refresh-9', 'refresh-3'])
      },
    )
  })
})

interface Said {
  readonly isStill?: true
  readonly token?: string
  readonly error?: string
  readonly events?: readonly string[]
}

interface Service {
  readonly tokenEndpoint: string
  readonly presented: readonly string[]
  /** It accepts used refresh tokens. */
  isForgiving: boolean
  close(): Promise<void>
}

/** A token endpoint with single-use refresh tokens. */
async function startService(): Promise<Service> {
  const presented: string[] = []
  let answers = 0
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const token = new URLSearchParams(body).get('refresh_token')!
      const isUsed = presented.includes(token)
      presented.push(token)
      const isGood = !isUsed || service.isForgiving
      if (isGood) answers += 1
      const pair = { access_token: `access-${answers}`, refresh_token: `refresh-${answers}` }
      response.writeHead(isGood ? 200 : 400, { 'Content-Type': 'application/json' })
      response.end(
        JSON.stringify(isGood ? { ...pair, token_type: 'Bearer', expires_in: 30 } : { error: 'invalid_grant' }),
      )
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const service = {
    tokenEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    presented,
    isForgiving: false,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return service
}
