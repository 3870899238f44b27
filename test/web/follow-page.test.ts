import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { TokenManager, TokenStatus } from '../../src/index.ts'
import { followPage } from '../../src/web/index.ts'

/** The globals that a page has and Node lacks. */
const page = new EventTarget()
const document = Object.assign(new EventTarget(), { visibilityState: 'visible' })

beforeEach(() => {
  document.visibilityState = 'visible'
  Object.assign(globalThis, {
    document,
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
  })
})
afterEach(() => {
  for (const name of ['document', 'addEventListener', 'removeEventListener']) Reflect.deleteProperty(globalThis, name)
})

const restored = (persisted: boolean) => Object.assign(new Event('pageshow'), { persisted })
const online = () => page.dispatchEvent(new Event('online'))

function follow(status: Partial<TokenStatus>) {
  const asked: string[] = []
  const call = (name: string) => async () => {
    asked.push(name)
    throw new Error('still offline')
  }
  const tokens = { status: () => ({ renewing: false, ...status }), renew: call('renew'), getAccessToken: call('get') }
  return { asked, stop: followPage(tokens as unknown as TokenManager) }
}

describe('given a manager in a cool-down after a failure', () => {
  it.each<[string, () => unknown]>([
    ['the browser is online again', online],
    ['the page becomes visible', () => document.dispatchEvent(new Event('visibilitychange'))],
    ['the page is restored from the back/forward cache', () => page.dispatchEvent(restored(true))],
  ])('when %s, then one attempt is made at once (F186)', (_, happens) => {
    const { asked, stop } = follow({ phase: 'cooling-down' })
    happens()
    expect(asked).toEqual(['renew'])
    stop()
    happens()
    expect(asked).toEqual(['renew'])
  })

  it('when the page is hidden, then the attempt waits until the page is visible', () => {
    const { asked, stop } = follow({ phase: 'cooling-down' })
    document.visibilityState = 'hidden'
    online()
    document.dispatchEvent(new Event('visibilitychange'))
    expect(asked).toEqual([])
    document.visibilityState = 'visible'
    document.dispatchEvent(new Event('visibilitychange'))
    expect(asked).toEqual(['renew'])
    stop()
  })

  it('when the page is shown for the first time, then there is no attempt', () => {
    const { asked, stop } = follow({ phase: 'cooling-down' })
    page.dispatchEvent(restored(false))
    expect(asked).toEqual([])
    stop()
  })
})

describe('given any phase', () => {
  it.each<[TokenStatus['phase'], Partial<TokenStatus>, string[]]>([
    ['empty', {}, []],
    ['fresh', {}, []],
    ['fresh', { nextAttemptAt: 1 }, []],
    ['due', {}, ['get']],
    ['due', { nextAttemptAt: 1 }, ['renew']],
    ['expired', {}, ['get']],
    ['expired', { renewing: true }, []],
    ['cooling-down', { renewing: true }, []],
    ['stopped', { lastError: 'ERR_SUSPICIOUS_REFRESH_TOKEN' }, []],
    // A user may have logged in in another tab.
    ['stopped', { lastError: 'ERR_LOGIN_REQUIRED' }, ['get']],
    ['closed', {}, []],
  ])('when %s with %j comes back, then it requests %j', (phase, more, expected) => {
    const { asked, stop } = follow({ phase, ...more })
    online()
    expect(asked).toEqual(expected)
    stop()
  })
})

describe('given no page', () => {
  it('when it is followed, then nothing happens, and bad arguments are named', () => {
    for (const name of ['document', 'addEventListener', 'removeEventListener']) Reflect.deleteProperty(globalThis, name)
    const { stop } = follow({ phase: 'cooling-down' })
    stop()
    expect(() => followPage(undefined as unknown as TokenManager)).toThrow(/^tokens must be an object/)
    expect(() => followPage({} as TokenManager)).toThrow(/^tokens\.status must be a function/)
  })
})
