import { beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'

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
  const args = [esbuild, 'src/index.ts', '--bundle', '--format=iife', '--global-name=evergreen', '--platform=browser']
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 })
  bundle = stdout
})

/** @returns The error of `createTokenManager`, or the token of a first request. */
function firstUse(globals: object): Promise<string> {
  const context = createContext({ ...globals })
  runInContext('globalThis.window = globalThis.self = globalThis', context)
  runInContext(bundle, context)
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
})
