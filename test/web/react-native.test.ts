import { beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Context, createContext, runInContext } from 'node:vm'
import { scriptBlocks } from '../support/document-code.ts'

/** What React Native has that the package uses. Its own `URL` throws when it is read. */
const REACT_NATIVE = {
  ...{ setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask, console },
  ...{ AbortController, performance, fetch, Headers, Request, Response, FormData, Blob },
  URLSearchParams,
  TextEncoder,
  navigator: { product: 'ReactNative' },
}
/** What applications add by polyfills. */
const POLYFILLS = { crypto: { getRandomValues: crypto.getRandomValues.bind(crypto) }, TextDecoder, URL }

let bundle: string
beforeAll(async () => {
  const esbuild = resolve('node_modules', 'esbuild', 'bin', 'esbuild')
  const args = [esbuild, '--bundle', '--format=iife', '--global-name=evergreen', '--platform=browser']
  const entries = ['index', 'oauth2/index', 'store/index'].map((name) => `export * from './src/${name}.ts'`)
  const bundled = promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 })
  bundled.child.stdin!.end(entries.join('\n'))
  bundle = (await bundled).stdout
})

/** @returns An application that has started, with what it imports: `evergreen`. */
function startApp(globals: object): Context {
  const context = createContext({ ...globals })
  runInContext('globalThis.window = globalThis.self = globalThis', context)
  runInContext(bundle, context)
  return context
}

/** @returns The error of `createTokenManager`, or the token of a first request. */
function firstUse(globals: object): Promise<string> {
  const context = startApp(globals)
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
  it('when no polyfill is loaded, then creating a manager says what is missing', async () => {
    expect(await firstUse({ ...REACT_NATIVE, URL: UnfinishedUrl })).toBe(
      'TypeError: This runtime lacks crypto.getRandomValues, TextDecoder, URL: load polyfills before axios-evergreen (for React Native, docs/works-with.md names them)',
    )
  })

  it.each(['crypto', 'TextDecoder', 'URL', 'AbortController', 'TextEncoder', 'URLSearchParams', 'performance'])(
    'when only %s is missing, then that is said',
    async (name) => {
      const { [name]: _, ...globals } = { ...REACT_NATIVE, ...POLYFILLS } as Record<string, unknown>
      expect(await firstUse(globals)).toContain(`TypeError: This runtime lacks ${name}`)
    },
  )

  it('when the polyfills are loaded, then tokens come', async () => {
    expect(await firstUse({ ...REACT_NATIVE, ...POLYFILLS })).toBe('token-1')
  })

  it('F286: when a polyfill is missing, then oauth2() says so in the same sentence', () => {
    const context = startApp({ ...REACT_NATIVE, ...POLYFILLS, URL: UnfinishedUrl })
    const create = `evergreen.oauth2({ tokenEndpoint: 'https://id.example.com/token', clientId: 'app', grant: 'login' })`
    expect(() => void runInContext(create, context)).toThrow(
      /^This runtime lacks URL: load polyfills before axios-evergreen/,
    )
  })

  it('F286: when there is no crypto.subtle, then a shared store says what to load', () => {
    const context = startApp({ ...REACT_NATIVE, ...POLYFILLS })
    const create = `evergreen.sharedStore({ kind: 'keychain', read() {}, replace() {} })`
    expect(() => void runInContext(create, context)).toThrow(
      /^A shared store needs crypto\.subtle, which this runtime lacks: load a polyfill .*docs\/works-with\.md names one/,
    )
  })

  it('F286: when the register of the page keeps a login in the keychain, then it survives restarts and rotations', async () => {
    const { code } = scriptBlocks().find((block) => block.code.includes('expo-secure-store'))!
    const kept = new Map<string, string>()
    const names: string[] = []
    const presented: string[] = []
    const given = {
      SecureStore: {
        getItemAsync: async (name: string) => kept.get(name) ?? null,
        setItemAsync: async (name: string, value: string) => {
          names.push(name)
          kept.set(name, value)
        },
      },
      Crypto: { digest: (algorithm: string, data: Uint8Array) => globalThis.crypto.subtle.digest(algorithm, data) },
      refresh: async (token: string) => {
        presented.push(token)
        return {
          accessToken: `access-${presented.length}`,
          accessLifetimeMs: 60_000,
          refreshToken: `refresh-${presented.length}`,
        }
      },
    }
    const start = (act: string) => {
      const own = { getRandomValues: globalThis.crypto.getRandomValues.bind(globalThis.crypto) }
      const context = startApp({ ...REACT_NATIVE, ...POLYFILLS, crypto: own, ...given })
      const register = code
        .replace(/^import .*\n/gm, '')
        .replace('export ', '')
        .replace('sharedStore', 'evergreen.sharedStore')
      return runInContext(
        `(async () => {
          ${register}
          const refuse = async () => { throw new evergreen.TokenError('ERR_LOGIN_REQUIRED', 'Log in') }
          const source = { id: 'app', needsLogin: true, obtain: refuse, refresh }
          const tokens = evergreen.createTokenManager({ source, store, storeKey: 'person' })
          try {
            ${act}
            return await tokens.getAccessToken()
          } finally { await tokens.close() }
        })()`,
        context,
      ) as Promise<string>
    }
    expect(await start(`await tokens.adopt({ refreshToken: 'refresh-0' })`)).toBe('access-1')
    expect(await start('')).toBe('access-1')
    expect(await start('await tokens.renew()')).toBe('access-2')
    expect(await start('await tokens.renew()')).toBe('access-3')
    expect(presented).toEqual(['refresh-0', 'refresh-1', 'refresh-2'])
    for (const name of names) expect(name).toMatch(/^[\w.-]+$/)
  })
})
