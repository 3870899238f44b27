import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer, isLoginRequired, isTokenError, memoryStore } from '../../src/index.ts'
import { outcome } from '../support/managed.ts'
import { loginOf, open } from '../support/people.ts'
import { settle } from '../support/watched-clock.ts'

/** Alice is logged in here, with a token that lives for an hour. */
async function start(subject?: string) {
  const store = memoryStore()
  const here = open(store)
  const there = open(store, here.clock)
  await here.tokens.adopt(loginOf('alice', subject, 3_600_000))
  await there.tokens.getAccessToken()
  return { here, there }
}

describe('given a login that another one has replaced in another process', () => {
  it.each([
    ['of unknown users', undefined, undefined],
    ['of two users', 'alice', 'bob'],
  ])(
    'when a caller asks, with logins %s, then it is told so once, and no login is required (F405)',
    async (_, one, other) => {
      const { here, there } = await start(one)
      await there.tokens.adopt(loginOf('bob', other, 3_600_000))
      await here.clock.advance(31_000)
      const error = await outcome(here.tokens.getAccessToken())
      expect(error).toMatchObject({ code: 'ERR_LOGIN_REPLACED', retryable: false })
      expect(error).not.toHaveProperty('loginReason')
      expect([isLoginRequired(error), isLoginRequired(error, here.tokens)]).toEqual([false, false])
      expect(here.tokens.status().login).toBe('present')
      expect(await here.tokens.getAccessToken()).toBe('bob')
    },
  )

  it('when that login has ended as well, then a login is required (F405)', async () => {
    const { here, there } = await start()
    await there.tokens.adopt(loginOf('bob', undefined, 3_600_000))
    await there.tokens.logout()
    await here.clock.advance(31_000)
    expect(await outcome(here.tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
  })
})

describe('given a request that an interceptor holds', () => {
  it.each([
    ['another user logs in', true, 'ERR_LOGIN_REPLACED'],
    ['the user logs out, and another user logs in', true, 'ERR_LOGIN_REPLACED'],
    ['the user logs out', false, 'ERR_LOGIN_REQUIRED'],
  ])('when %s, then it is not sent (F405)', async (how, logsIn, code) => {
    const { here } = await start()
    let sent = 0
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const api = axios.create({
      baseURL: 'https://api.example.com',
      adapter: async (config) => ({ data: (sent += 1), status: 200, statusText: '', headers: {}, config }),
    })
    attachBearer(api, here.tokens, { origins: ['https://api.example.com'] })
    api.interceptors.request.use((config) => held.then(() => config))
    const asked = outcome(api.get('/wallet'))
    await settle()
    if (how.includes('logs out')) await here.tokens.logout()
    if (logsIn) await here.tokens.adopt(loginOf('bob', undefined, 3_600_000))
    release()
    const error = await asked
    expect(isTokenError(error) && error.code).toBe(code)
    expect(isLoginRequired(error, here.tokens)).toBe(!logsIn)
    expect(sent).toBe(0)
  })
})
