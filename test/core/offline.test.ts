import { afterEach, describe, expect, it } from '@jest/globals'
import { TokenError } from '../../src/index.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

const own = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
/** Sets what the browser reports about its network. */
function beOnline(onLine: boolean): void {
  Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { onLine } })
}
afterEach(() => {
  if (own) Object.defineProperty(globalThis, 'navigator', own)
  else Reflect.deleteProperty(globalThis, 'navigator')
})

/** XMLHttpRequest and fetch fail like this in a browser. Neither reveals whether anything was sent. */
const networkError = () => Promise.reject(new TypeError('Failed to fetch'))

/** A manager whose first refresh fails. `before`, `after`: whether the browser is online before and after it. */
async function refreshed(before: boolean, after: boolean, fail: () => Promise<never> = networkError) {
  const source = new ScriptedSource({ pairs: true })
  const { clock, tokens } = manage(source)
  await tokens.getAccessToken()
  beOnline(before)
  source.script.push(() => {
    beOnline(after)
    return fail()
  })
  const renewed = outcome(tokens.renew({ maxWaitMs: 20_000 }))
  await settle()
  beOnline(true)
  await clock.advance(20_000)
  await renewed
  return source.calls.map(({ kind, refreshToken }) => refreshToken ?? kind)
}

describe('given a browser that is offline', () => {
  it('when a refresh fails, then its refresh token is unused, and is presented when the browser is online', async () => {
    expect(await refreshed(false, false)).toEqual(['obtain', 'refresh-1', 'refresh-1'])
  })

  it.each([
    ['goes offline during the request', true, false],
    ['comes online during the request', false, true],
    ['is online', true, true],
  ])(
    'when it %s, then the response may be lost, and the refresh token is not presented again',
    async (_, before, after) => {
      expect(await refreshed(before, after)).toEqual(['obtain', 'refresh-1', 'obtain'])
    },
  )

  it('when a source reports more than a missing response, then that report counts', async () => {
    const lost = () => Promise.reject(new TokenError('ERR_TOKEN_RESPONSE', 'cut off', { outcome: 'unknown' }))
    expect(await refreshed(false, false, lost)).toEqual(['obtain', 'refresh-1', 'obtain'])
  })
})
