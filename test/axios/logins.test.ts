import { describe, expect, it, jest } from '@jest/globals'
import axios, { type InternalAxiosRequestConfig } from 'axios'
import { inspect } from 'node:util'
import { attachBearer, createTokenManager, TokenError } from '../../src/index.ts'
import { startLogins } from '../client/support/logins.ts'
import { inProcess } from './support/in-process.ts'
import { rejection, startApi } from './support/api-server.ts'
import { failureOf, gate, until } from './support/turns.ts'
import { person } from '../../src/login/index.ts'

const baseURL = 'https://api.example.com'

describe('given an instance whose attachment is detached and attached again', () => {
  it("when Alice logs out by detaching, and Bob logs in by attaching, then Alice's 401 surfaces (F209)", async () => {
    const logins = startLogins()
    logins.logIn('ALICE')
    const opened = gate()
    const server = await startApi(async ({ headers }) => {
      await opened.opened
      return headers.authorization === 'Bearer BOB' ? {} : rejection
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

describe('given a slow interceptor', () => {
  it.each(['as it is', 'as a copy', 'as a copy with another adapter'])(
    'when the login changes before the interceptor returns and the config is passed on %s, then the request is not sent as another user (F209, F210)',
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

  it('when it replaces our adapter and the login changes, then the request is not sent as another user', async () => {
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

describe('given a login that is lost during a slow interceptor, and a new login', () => {
  it('F339: when one request began before the loss was reported and one after, then only the later one is sent', async () => {
    const refuse = () => Promise.reject(new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' }))
    const source = { id: 'person', login: person, obtain: refuse, refresh: refuse }
    const tokens = createTokenManager({ source })
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
    expect(await before).toMatchObject({ code: 'ERR_LOGIN_REPLACED', isAxiosError: true })
    await since
    expect(calls).toMatchObject([{ config: { data: '{"from":"bob"}' }, headers: { Authorization: 'Bearer BOB' } }])
    await tokens.close()
  })
})

describe('given an interceptor that holds a request while another user logs in (F359)', () => {
  type Held = (opened: Promise<void>) => (config: InternalAxiosRequestConfig) => unknown
  const HELD: Record<string, Held> = {
    'as it is': (opened) => (config) => opened.then(() => config),
    'as a copy': (opened) => (config) => opened.then(() => ({ ...config })),
    'as a deep copy of its members': (opened) => (config) =>
      opened.then(() => Object.assign(Object.create(null) as object, config, { headers: config.headers.concat() })),
    'in the next turn': () => (config) => config,
  }

  /** An instance of Alice, who sends a POST. Bob logs in before the interceptor releases her request. */
  async function held(how: Held, isFirst: boolean, attach: typeof attachBearer = attachBearer) {
    const logins = startLogins()
    logins.logIn('ALICE')
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter, baseURL })
    const opened = gate()
    const hold = how(opened.opened) as (config: InternalAxiosRequestConfig) => InternalAxiosRequestConfig
    // axios runs the last registered interceptor first.
    if (!isFirst) api.interceptors.request.use(hold)
    attach(api, logins.tokens)
    if (isFirst) api.interceptors.request.use(hold)
    return { logins, calls, api, open: () => opened.open() }
  }

  const ROWS = Object.entries(HELD).flatMap(([name, how]) => [true, false].map((isFirst) => ({ name, how, isFirst })))

  it.each(ROWS)(
    'when it runs before ours: $isFirst, and the config is passed on $name, then nothing is sent as another user (F359)',
    async ({ how, isFirst }) => {
      const { logins, calls, api, open } = await held(how, isFirst)
      const failed = failureOf(api.post('/transfer', { from: 'alice' }))
      logins.logIn('BOB')
      open()
      expect(await failed).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', isAxiosError: true })
      expect(calls).toEqual([])
      await api.post('/transfer', { from: 'bob' })
      expect(calls).toMatchObject([{ authorization: 'Bearer BOB' }])
      expect(Object.getOwnPropertySymbols(calls[0]!.config)).toEqual([])
    },
  )

  it.each([true, false])(
    'when another copy of the package has attached the instance before, then neither sends a request as another user (first: %p, F359)',
    async (isFirst) => {
      let copy: typeof attachBearer = attachBearer
      await jest.isolateModulesAsync(async () => {
        copy = ((await import('../../src/index.ts')) as { attachBearer: typeof attachBearer }).attachBearer
      })
      const other = startLogins()
      const { logins, calls, api, open } = await held(HELD['as it is']!, isFirst, (instance, tokens, options) => {
        copy(instance, other.tokens, { origins: ['https://other.example.com'] })
        return attachBearer(instance, tokens, options)
      })
      other.logIn('CAROL')
      const failed = [api.post('/transfer'), api.post('https://other.example.com/transfer')].map((sent) =>
        failureOf(sent),
      )
      logins.logIn('BOB')
      other.logIn('DAVE')
      open()
      for (const failure of failed) expect(await failure).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
      expect(calls).toEqual([])
    },
  )

  it('when the request fails before it reaches ours, then its config prints nothing of the login (F359)', async () => {
    const { logins, api } = await held(() => () => Promise.reject(new Error('no device id')), true)
    const seen: unknown[] = []
    api.interceptors.request.use((config) => (seen.push(config), config))
    expect(await failureOf(api.get('/wallet'))).toMatchObject({ message: 'no device id' })
    logins.logOut()
    expect(inspect(seen, { depth: Infinity, showHidden: true })).not.toMatch(/ALICE|Bearer/)
  })
})
