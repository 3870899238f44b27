/** @jest-environment ./test/support/jsdom/environment.cjs */
import { expect, describe, it } from '@jest/globals'
import axios from 'axios'
import { createTokenManager, type TokenManager } from '../../src/index.ts'
import { inspect } from '../../src/inspector/index.ts'
import { failureOf } from '../axios/support/turns.ts'

/** The part of the page that these tests use. */
interface Panel {
  append(...nodes: never[]): void
  readonly textContent: string
  readonly childElementCount: number
  querySelectorAll(selector: string): ArrayLike<{ readonly title: string }>
}
const parent = () =>
  (globalThis as unknown as { document: { createElement(name: string): Panel } }).document.createElement('div')

describe('given a panel that shows a manager', () => {
  it('when tokens arrive and calls fail, then phase, counts, calls and events are shown, and no token', async () => {
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
    expect(panel.textContent).toMatch(
      /renewed: by obtain, because cold, attempts 1, duration \d+ ms, access expires at \d+:\d\d:\d\d/,
    )
    expect(panel.textContent).toMatch(/renewal failed: next attempt at [^,]+, ERR_CREDENTIALS_REJECTED: /)
    expect(panel.textContent).not.toContain('secret')
    const dots = Array.from(panel.querySelectorAll('i'), ({ title }) => title)
    expect(dots).toEqual(['renewed', 'failed'])
    stop()
    expect(panel.childElementCount).toBe(0)
    await tokens.close()
  })

  it('when an instance sends a thousand requests, then the axis has dots for the newest 300', async () => {
    const tokens = createTokenManager({
      source: { id: 'own', obtain: async () => ({ accessToken: 'one', accessLifetimeMs: 60_000 }) },
    })
    const api = axios.create({
      adapter: async (config) => ({ config, data: '', status: 200, statusText: 'OK', headers: {} }),
    })
    const panel = parent()
    const stop = inspect(tokens, panel, { api })
    for (let n = 0; n < 1_000; n += 1) await api.get('/wallet')
    await tokens.getAccessToken() // the panel renders at each event
    const dots = Array.from(panel.querySelectorAll('i'), ({ title }) => title)
    expect(dots).toEqual([...Array<string>(299).fill('answered'), 'renewed'])
    stop()
    await tokens.close()
  })

  it('when an argument is invalid, then the error names it', () => {
    expect(() => inspect(undefined as unknown as TokenManager, parent())).toThrow(/^tokens must be an object/)
    const tokens = { status: () => ({}), onAny: () => undefined } as unknown as TokenManager
    expect(() => inspect(tokens, null as unknown as Panel)).toThrow(/^parent\.append must be a function/)
    const withOptions = (options: unknown) => () =>
      inspect(tokens, parent(), options as NonNullable<Parameters<typeof inspect>[2]>)
    expect(withOptions(null)).toThrow(/^The options of inspect must be an object, got null/)
    expect(withOptions({ instance: axios })).toThrow(/^The options of inspect: there is no 'instance', use api$/)
    for (const api of [null, {}, { interceptors: { request: {} } }, 'api'])
      expect(withOptions({ api })).toThrow(/^api must be an axios instance/)
  })
})
