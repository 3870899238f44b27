import { describe, expect, it } from '@jest/globals'
import { createTokenManager, isTokenError, memoryStore, TokenError } from '../../src/index.ts'
import { type LoginManager, type LoginSource, person as layer } from '../../src/login/index.ts'
import { rejection, startApi } from '../axios/support/api-server.ts'
import { failureOf, gate, until } from '../axios/support/turns.ts'
import { DOORS } from './support/doors.ts'
import { startLogins } from './support/logins.ts'

const POST = { method: 'POST', body: '{"from":"alice"}' }

/** An API that responds to the first request only when the test opens the gate, and rejects the tokens of Alice. */
async function startBank() {
  const first = gate()
  const server = await startApi(async ({ headers }, index) => {
    if (index === 0) await first.opened
    return headers.authorization === 'Bearer BOB' ? { body: 'executed as bob' } : rejection
  })
  return { server, response: () => first.open() }
}

describe.each(DOORS)('given requests of Alice while the login changes ($name)', ({ open }) => {
  it.each([
    ['another user logs in', (logins: ReturnType<typeof startLogins>) => logins.logIn('BOB')],
    [
      'Alice logs out and another user logs in',
      (logins: ReturnType<typeof startLogins>) => {
        logins.logOut()
        logins.logIn('BOB')
      },
    ],
    ['Alice logs out', (logins: ReturnType<typeof startLogins>) => logins.logOut()],
  ])(
    'when one is in flight and %s, then the caller gets its 401, nothing is renewed and nothing sent again (F209)',
    async (_, change) => {
      const logins = startLogins()
      logins.logIn('ALICE')
      const { server, response } = await startBank()
      const send = open(logins.tokens, { origins: [server.baseUrl] })
      const sent = send(`${server.baseUrl}/transfer`, POST)
      await until(() => server.received.length === 1)
      change(logins)
      response()
      expect(await sent).toMatchObject({ status: 401 })
      expect([server.bearers, logins.replaced, logins.anomalies]).toEqual([['Bearer ALICE'], [], []])
    },
  )

  it.each([true, false])(
    'when one has been rejected and waits for another token, then it gets none of another user (needsLogin %p, F209)',
    async (needsLogin) => {
      const logins = startLogins({ needsLogin })
      logins.logIn('ALICE')
      const { server, response } = await startBank()
      const send = open(logins.tokens, { origins: [server.baseUrl] })
      const sent = send(`${server.baseUrl}/transfer`, POST)
      response()
      await until(() => logins.replaced.length === 1)
      logins.logIn('BOB')
      expect(await sent).toMatchObject({ status: 401 })
      expect(server.bearers).toEqual(['Bearer ALICE'])
    },
  )

  it('when the same login has another token, then the request is replayed with it', async () => {
    const logins = startLogins()
    logins.logIn('ALICE')
    const { server, response } = await startBank()
    const send = open(logins.tokens, { origins: [server.baseUrl] })
    const sent = send(`${server.baseUrl}/transfer`, POST)
    await until(() => server.received.length === 1)
    logins.issue('BOB') // of the same login: the generation stays
    response()
    expect(await sent).toMatchObject({ status: 200, text: 'executed as bob' })
  })

  it('when one waits for a token and the login ends, then it is not sent as another user (F210)', async () => {
    const logins = startLogins()
    const { server } = await startBank()
    const send = open(logins.tokens, { origins: [server.baseUrl] })
    const failed = failureOf(send(`${server.baseUrl}/transfer`, POST))
    // The manager gives the waiting caller the token of another login: a careless manager, or in the same turn.
    logins.logIn('BOB')
    const error = await failed
    expect(isTokenError(error, 'ERR_LOGIN_REQUIRED')).toBe(true)
    expect(error).toMatchObject({
      loginReason: 'logged-out',
      message: expect.stringContaining('The login of this request has ended'),
    })
    expect(server.received).toHaveLength(0)
  })

  it('when one waits, and the source can obtain without a user, then it gets the next token (F210)', async () => {
    const logins = startLogins({ needsLogin: false })
    const { server, response } = await startBank()
    response()
    const send = open(logins.tokens, { origins: [server.baseUrl] })
    const sent = send(`${server.baseUrl}/transfer`, POST)
    await new Promise((resolve) => setImmediate(resolve))
    logins.logOut() // as reset() of a manager with credentials
    logins.issue('BOB')
    expect(await sent).toMatchObject({ status: 200 })
  })

  it('when one is in flight during a reset of a source that can obtain, then the caller gets its 401 (F209)', async () => {
    const logins = startLogins({ needsLogin: false })
    logins.logIn('ALICE')
    const { server, response } = await startBank()
    const send = open(logins.tokens, { origins: [server.baseUrl] })
    const sent = send(`${server.baseUrl}/transfer`, POST)
    await until(() => server.received.length === 1)
    logins.logOut()
    logins.issue('BOB')
    response()
    expect(await sent).toMatchObject({ status: 401 })
    expect(server.bearers).toEqual(['Bearer ALICE'])
  })
})

/** A source whose tokens only a user can obtain. */
const person: LoginSource = {
  id: 'person',
  login: layer,
  obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'log in')),
}
const login = (accessToken: string, subject: string) => ({ accessToken, accessLifetimeMs: 600_000, subject })

describe.each(DOORS)('given a manager of this package, and Alice who has logged in ($name)', ({ open }) => {
  it.each<[string, (tokens: LoginManager) => Promise<unknown>]>([
    ['she logs out', (tokens) => tokens.logout()],
    ['Bob logs in', (tokens) => tokens.adopt(login('BOB', 'bob'))],
    ['she logs out and Bob logs in', (tokens) => tokens.reset().then(() => tokens.adopt(login('BOB', 'bob')))],
  ])('when a request is in flight and %s, then the caller gets its 401 (F209)', async (_, change) => {
    const tokens = createTokenManager({ source: person })
    await tokens.adopt(login('ALICE', 'alice'))
    const { server, response } = await startBank()
    const sent = open(tokens, { origins: [server.baseUrl] })(`${server.baseUrl}/transfer`, POST)
    await until(() => server.received.length === 1)
    await change(tokens)
    response()
    expect(await sent).toMatchObject({ status: 401 })
    expect(server.bearers).toEqual(['Bearer ALICE'])
    await tokens.close()
  })

  it('when the same user logs in again before the 401, then the request is replayed', async () => {
    const tokens = createTokenManager({ source: person })
    await tokens.adopt(login('ALICE', 'alice'))
    const { server, response } = await startBank()
    const sent = open(tokens, { origins: [server.baseUrl] })(`${server.baseUrl}/transfer`, POST)
    await until(() => server.received.length === 1)
    await tokens.adopt(login('BOB', 'alice'))
    response()
    expect(await sent).toMatchObject({ status: 200 })
    await tokens.close()
  })

  it("when a request is in flight, and the manager stops (onSuspicious: 'stop') before Bob logs in, then the caller gets its 401 (F209)", async () => {
    const refuse = () => Promise.reject(new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' }))
    const tokens = createTokenManager({ source: { ...person, refresh: refuse }, onSuspicious: 'stop' })
    await tokens.adopt({ ...login('ALICE', 'alice'), refreshToken: 'r' })
    const { server, response } = await startBank()
    const sent = open(tokens, { origins: [server.baseUrl] })(`${server.baseUrl}/transfer`, POST)
    await until(() => server.received.length === 1)
    expect(await failureOf(tokens.renew())).toMatchObject({ code: 'ERR_SUSPICIOUS_REFRESH_TOKEN' })
    await tokens.adopt(login('BOB', 'bob'))
    response()
    expect(await sent).toMatchObject({ status: 401 })
    expect(server.bearers).toEqual(['Bearer ALICE'])
    await tokens.close()
  })

  it('when another tab logs her out and Bob in, then the caller gets the 401 of a rejected request of this tab (F209)', async () => {
    const store = memoryStore()
    const managers = [0, 1].map(() => createTokenManager({ source: person, store, storeKey: 'tabs' }))
    const [here, there] = managers as [LoginManager, LoginManager]
    await here.adopt(login('ALICE', 'alice'))
    const { server, response } = await startBank()
    await there.reset()
    await there.adopt(login('BOB', 'bob'))
    response()
    const ended = await open(here, { origins: [server.baseUrl] })(`${server.baseUrl}/transfer`, POST).catch(
      (error: unknown) => error,
    )
    // Either this tab was notified before, or the API reveals it.
    if (isTokenError(ended)) expect(ended.code).toBe('ERR_LOGIN_REQUIRED')
    else expect(ended).toMatchObject({ status: 401 })
    expect(server.bearers).not.toContain('Bearer BOB')
    await Promise.all(managers.map((tokens) => tokens.close()))
  })
})
