import { describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import * as evergreenFetch from '../../src/fetch/index.ts'
import type { TokenManager } from '../../src/index.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { failureOf } from '../axios/support/turns.ts'
import { fences } from '../support/document-code.ts'
import { runCode } from '../support/page-code.ts'

const url = 'https://payments.example.com/wallet'

type HiddenFetch = (url: string) => Promise<Response>

/** The lines of docs/fetch.md. */
function hiddenFetchOf(tokens: TokenManager, fetch: (...given: never[]) => Promise<Response>): HiddenFetch {
  const block = fences('ts', readFileSync('docs/fetch.md', 'utf8')).find((one) => one.includes('hiddenFetch'))!
  const exported = runCode(block, { require: () => evergreenFetch, tokens, fetch }) as { hiddenFetch: HiddenFetch }
  return exported.hiddenFetch
}

/** A browser with an API whose 401 lacks the CORS headers. */
function gateway(refused: readonly string[]) {
  const bearers: (string | null)[] = []
  const fetch = (_: string, init?: RequestInit) => {
    const bearer = new Headers(init?.headers).get('authorization')
    bearers.push(bearer)
    return refused.includes(bearer ?? '')
      ? Promise.reject(new TypeError('Failed to fetch'))
      : Promise.resolve(new Response('ok'))
  }
  return { fetch, bearers }
}

describe('given an API whose 401 is hidden from pages', () => {
  it('when it rejects the token, then the code of the page renews, and sends once more', async () => {
    const { tokens, minted } = startTokens()
    await tokens.getAccessToken()
    const { fetch, bearers } = gateway(['Bearer token-1'])
    expect(await (await hiddenFetchOf(tokens, fetch)(url)).text()).toBe('ok')
    expect([bearers, minted.calls]).toEqual([['Bearer token-1', 'Bearer token-2'], 2])
  })

  it('when the network is down, then there is one token request, and its error is returned', async () => {
    const { tokens, minted } = startTokens()
    await tokens.getAccessToken()
    const { fetch, bearers } = gateway(['Bearer token-1', 'Bearer token-2'])
    const api = hiddenFetchOf(tokens, fetch)
    for (let n = 0; n < 3; n += 1) expect(await failureOf(api(url))).toEqual(new TypeError('Failed to fetch'))
    // A manager replaces no token sooner than two seconds after the last one.
    expect([minted.calls, bearers.length]).toEqual([2, 4])
  })

  it('when no token can be obtained, then the TokenError is returned, and nothing is sent', async () => {
    const { tokens, minted } = startTokens()
    minted.fail(new Error('no'))
    const { fetch, bearers } = gateway([])
    expect(await failureOf(hiddenFetchOf(tokens, fetch)(url))).toHaveProperty('code')
    expect(bearers).toEqual([])
  })
})
