/** @jest-environment jsdom */
import { expect, describe, it } from '@jest/globals'
import { createTokenManager, type TokenManager } from '../../src/index.ts'
import { inspect, type InspectorParent } from '../../src/inspector/index.ts'
import { failureOf } from '../axios/support/turns.ts'

/** What of the page is looked at here. */
interface Panel extends InspectorParent {
  readonly textContent: string
  readonly childElementCount: number
  querySelectorAll(selector: string): ArrayLike<{ readonly title: string }>
}
const parent = () =>
  (globalThis as unknown as { document: { createElement(name: string): Panel } }).document.createElement('div')

describe('given a panel that shows a manager', () => {
  it('when tokens come and calls fail, then phase, counts, calls and events are shown, and no token', async () => {
    let calls = 0
    const obtain = async () => {
      calls += 1
      if (calls > 1) throw Object.assign(new Error('refused'), { status: 403 })
      return { accessToken: 'secret-token', accessLifetimeMs: 60_000 }
    }
    const tokens = createTokenManager({ source: { id: 'own', obtain } })
    const panel = parent()
    const stop = inspect(tokens, panel)
    expect(panel.textContent).toMatch(/^empty/)
    await tokens.getAccessToken()
    await failureOf(tokens.renew())
    await Promise.resolve()
    expect(panel.textContent).toMatch(
      /^fresh · (60\.0|59\.\d) s left · next attempt in .*ERR_CREDENTIALS_REJECTED2 obtains/,
    )
    expect(panel.textContent).toMatch(/renewed \{"by":"obtain"/)
    expect(panel.textContent).toMatch(/renewalFailed .*ERR_CREDENTIALS_REJECTED: /)
    expect(panel.textContent).not.toContain('secret')
    const dots = Array.from(panel.querySelectorAll('i'), ({ title }) => title)
    expect(dots).toEqual(['renewed', 'renewalFailed'])
    stop()
    expect(panel.childElementCount).toBe(0)
    await tokens.close()
  })

  it('when an argument is wrong, then it is named', () => {
    expect(() => inspect(undefined as unknown as TokenManager, parent())).toThrow(/^tokens must be an object/)
    const tokens = { status: () => ({}), onAny: () => undefined } as unknown as TokenManager
    expect(() => inspect(tokens, null as unknown as Panel)).toThrow(/^element\.append must be a function/)
  })
})
