import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer, createTokenManager, TokenError } from '../../src/index.ts'
import { startLogins } from '../client/support/logins.ts'
import { inProcess } from './support/in-process.ts'
import { refusal, startApi } from './support/api-server.ts'
import { failureOf, gate, until } from './support/turns.ts'

const baseURL = 'https://api.example.com'

describe('given an instance whose attachment comes and goes', () => {
  it('when Alice logs out by detaching, and Bob logs in by attaching, then the 401 of Alice surfaces (F209)', async () => {
    const logins = startLogins()
    logins.logIn('ALICE')
    const opened = gate()
    const server = await startApi(async ({ headers }) => {
      await opened.opened
      return headers.authorization === 'Bearer BOB' ? {} : refusal
    })
    const api = axios.create({ baseURL: server.baseUrl, proxy: false })
    const attachment = attachBearer(api, logins.tokens)
    const failed = failureOf(api.post('/transfer', { from: 'alice' }))
    await until(() => server.received.length === 1)
    attachment.detach()
    logins.logOut()
    logins.logIn('BOB')
    attachBearer(api, logins.tokens)
    opened.open()
    expect(await failed).toMatchObject({ status: 401 })
    expect(server.bearers).toEqual(['Bearer ALICE'])
    expect((await api.post('/transfer', { from: 'bob' })).status).toBe(200)
  })
})

describe('given an interceptor that takes its time', () => {
  it.each(['as it is', 'as a copy', 'as a copy with another adapter'])(
    'when the login changes meanwhile and the config goes on %s, then the request is not sent as somebody else (F209, F210)',
    async (how) => {
      const logins = startLogins()
      logins.logIn('ALICE')
      const { adapter, calls } = inProcess()
      const api = axios.create({ adapter, baseURL })
      const opened = gate()
      // Registered before ours, so it runs after it.
      api.interceptors.request.use(async (config) => {
        await opened.opened
        if (how === 'as it is') return config
        return how === 'as a copy' ? { ...config } : { ...config, adapter }
      })
      attachBearer(api, logins.tokens)
      const sent = api.post('/transfer', { from: 'alice' }).catch((error: unknown) => error)
      await new Promise((resolve) => setImmediate(resolve))
      logins.logIn('BOB')
      opened.open()
      // A copy with another adapter goes out without a token, as always.
      if (how !== 'as a copy with another adapter') {
        expect(await sent).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', isAxiosError: true })
        expect(calls).toEqual([])
      } else {
        await sent
        expect(calls.map(({ authorization }) => authorization)).toEqual([undefined])
      }
    },
  )

  it('when it puts another adapter in the place of ours and the login changes, then that is not sent as somebody else', async () => {
    const logins = startLogins()
    logins.logIn('ALICE')
    const { adapter, calls } = inProcess()
    const api = axios.create({ baseURL })
    const opened = gate()
    api.interceptors.request.use(async (config) => {
      config.adapter = adapter
      await opened.opened
      return config
    })
    attachBearer(api, logins.tokens)
    const failed = failureOf(api.post('/transfer', { from: 'alice' }))
    await new Promise((resolve) => setImmediate(resolve))
    logins.logIn('BOB')
    opened.open()
    expect(await failed).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(calls).toEqual([])
  })
})

describe('given a login that is lost while an interceptor takes its time, and the next one', () => {
  it('F339: when requests began before and after everybody had heard of the loss, then the later one alone is sent', async () => {
    const refuse = () => Promise.reject(new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' }))
    const person = { id: 'person', needsLogin: true, obtain: refuse, refresh: refuse }
    const tokens = createTokenManager({ source: person })
    await tokens.adopt({ accessToken: 'ALICE', accessLifetimeMs: 0, refreshToken: 'r', subject: 'alice' })
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter, baseURL })
    const opened = gate()
    // Registered before ours, so it runs after it.
    api.interceptors.request.use((config) => opened.opened.then(() => config))
    attachBearer(api, tokens)
    const before = failureOf(api.post('/transfer', { from: 'alice' }))
    await new Promise((resolve) => setImmediate(resolve))
    expect(await failureOf(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    const since = api.post('/transfer', { from: 'bob' })
    await tokens.adopt({ accessToken: 'BOB', accessLifetimeMs: 600_000, subject: 'bob' })
    opened.open()
    expect(await before).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', isAxiosError: true })
    await since
    expect(calls).toMatchObject([{ config: { data: '{"from":"bob"}' }, headers: { Authorization: 'Bearer BOB' } }])
    await tokens.close()
  })
})
