import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import {
  createTokenManager,
  isTokenError,
  memoryStore,
  TokenError,
  type TokenManager,
  type TokenManagerOptions,
  type TokenSource,
} from '../../src/index.ts'
import { type LoginManager, type LoginEvents, person } from '../../src/login/index.ts'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { CHALLENGED } from '../../src/core/token-source.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { sharedStore } from '../../src/store/index.ts'
import { challengeOf } from '../../src/oauth2/index.ts'
import { exposeTokens, connectTokens } from '../../src/web/index.ts'
import { transferred } from '../../src/web/worker-messages.ts'
import { rejection, startApi } from '../axios/support/api-server.ts'
import { failureOf, gate, until } from '../axios/support/turns.ts'
import { sourceBehind } from '../oauth2/world.ts'
import { answering } from '../service/world.ts'
import { DOORS } from '../client/support/doors.ts'
import { listen } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'

const POST = { method: 'POST', body: '{"from":"alice"}' }
const grant = (name: string, changes = {}) => ({
  accessToken: name.toUpperCase(),
  accessLifetimeMs: 600_000,
  refreshToken: `refresh-of-${name}`,
  subject: name,
  ...changes,
})

/** Only a user can obtain its tokens. A refresh returns the same tokens with a number appended, when the test allows it. */
class PersonSource implements TokenSource {
  readonly id = 'person'
  readonly login = person
  readonly revoked: (string | undefined)[] = []
  refreshes = 0
  held: Promise<unknown> | undefined
  failure: Error | undefined
  obtain = () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'log in'))
  async refresh(refreshToken: string) {
    this.refreshes += 1
    await this.held
    if (this.failure) throw this.failure
    const name = `${refreshToken.replace('refresh-of-', '')}-${this.refreshes}`
    return { accessToken: name.toUpperCase(), accessLifetimeMs: 600_000, refreshToken: `refresh-of-${name}` }
  }
  async revoke({ refreshToken }: { refreshToken?: string }) {
    this.revoked.push(refreshToken)
  }
}

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** All messages that passed through the ports. */
const crossed: unknown[] = []
/** A worker with a manager. Each of the `pages` is connected by a port. */
function startWorker({ source = new PersonSource(), ...options }: Partial<TokenManagerOptions> = {}) {
  const manager = createTokenManager({ source, ...options }) as LoginManager
  endings.push(() => manager.close())
  /** @returns The port of a page. Its messages are in flight while they are `held`. */
  const connect = () => {
    const { port1, port2 } = new MessageChannel()
    const stop = exposeTokens(manager, port2)
    endings.push(() => {
      stop()
      port1.close()
      port2.close()
    })
    const port = {
      start: () => undefined,
      stop,
      held: Promise.resolve(),
      postMessage: (data: unknown, transfer: readonly object[] = []) =>
        void port.held.then(() => port1.postMessage(data, transfer as never)),
    }
    return port
  }
  const openPage = async (port = connect()) => page(await connectTokens(port))
  return { manager, connect, openPage, source: source as PersonSource }
}
function page(tokens: LoginManager) {
  endings.push(() => tokens.close())
  return tokens
}
const listenTo = (port: InstanceType<typeof MessagePort>, heard: (data: unknown) => unknown) => {
  port.addEventListener('message', (event) => void heard((event as unknown as { data: unknown }).data))
}
/** All messages in flight have arrived. */
const arrived = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('given a worker that has the manager, and its page', () => {
  it('when a user logs in, renews and logs out in the page, then the worker does so, and the page receives all events', async () => {
    const { manager, openPage, source } = startWorker()
    const tokens = await openPage()
    const told = listen(tokens)
    expect([tokens.status(), tokens.peekAccessToken()]).toEqual([manager.status(), undefined])
    expect(await failureOf(tokens.getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'none-yet',
    })
    await tokens.adopt(grant('alice'))
    expect(await tokens.getAccessToken()).toBe('ALICE')
    await tokens.renew()
    expect(await tokens.getAccessToken()).toBe('ALICE-1')
    expect(await tokens.replaceAccessToken('ALICE')).toBe('ALICE-1')
    expect(await tokens.logout()).toMatchObject({ revoked: true })
    expect([source.revoked, manager.status().login]).toEqual([['refresh-of-alice-1'], 'required'])
    await arrived()
    expect(tokens.status()).toEqual(manager.status())
    expect(told.loginChanged).toEqual([
      { login: 'present', by: 'here', account: 'unknown' },
      { login: 'required', by: 'here', account: 'unknown', reason: 'logged-out' },
    ])
    expect(told.renewed).toMatchObject([{ by: 'adopted' }, { by: 'refresh', because: 'forced' }])
    await tokens.adopt(grant('bob'))
    await tokens.reset()
    expect([manager.status().login, source.revoked.length]).toEqual(['required', 1])
  })

  it('when a listener receives all events, then it stops when it is removed', async () => {
    const { manager, openPage } = startWorker()
    const tokens = await openPage()
    const names: (keyof LoginEvents)[] = []
    const stop = tokens.onAny((name) => void names.push(name))
    await manager.adopt(grant('alice'))
    await until(() => names.length === 2)
    stop()
    await manager.logout()
    await arrived()
    expect(names.sort()).toEqual(['loginChanged', 'renewed'])
  })

  it('when the worker cannot renew, then the page has the same error', async () => {
    const { openPage, source } = startWorker({ retry: { maxAttempts: 1 } })
    const tokens = await openPage()
    const told = listen(tokens)
    await tokens.adopt(grant('alice'))
    source.failure = new TokenError('ERR_THROTTLED', 'responded with 429', {
      status: 429,
      serviceCode: 'slow',
      retryAfterMs: 60_000,
      cause: new Error('a secret'),
    })
    const error = await failureOf<TokenError>(tokens.renew())
    expect(isTokenError(error, 'ERR_THROTTLED')).toBe(true)
    const all = {
      message: 'responded with 429',
      retryable: true,
      status: 429,
      serviceCode: 'slow',
      retryAt: expect.any(Number),
    }
    expect(error).toMatchObject(all)
    expect(error.cause).toBeUndefined()
    await until(() => told.renewalFailed.length === 1)
    expect(told.renewalFailed[0]!.error).toBeInstanceOf(TokenError)
    expect(told.renewalFailed[0]!.error).toMatchObject(all)
  })

  it('F312: when the worker is in the middle of an exchange, then settled() of the page resolves after it, and never rejects', async () => {
    const { manager, openPage, source, connect } = startWorker()
    const port = connect()
    const tokens = await openPage(port)
    await tokens.adopt(grant('alice'))
    const held = gate()
    source.held = held.opened
    void manager.renew()
    await until(() => source.refreshes === 1)
    const settled = tokens.settled().then(() => manager.status().renewing)
    held.open()
    expect(await settled).toBe(false)
    port.stop()
    const ended = tokens.settled()
    await tokens.close()
    await ended
    await tokens.settled()
  })

  it('when a caller gives up or reaches its limit, then only its own wait ends', async () => {
    const { openPage, source } = startWorker()
    const tokens = await openPage()
    const held = gate()
    source.held = held.opened
    await tokens.adopt(grant('alice', { accessToken: undefined }))
    const other = tokens.getAccessToken()
    const given = new AbortController()
    const aborted = failureOf(tokens.getAccessToken({ signal: given.signal }))
    const short = failureOf(tokens.replaceAccessToken('x', { maxWaitMs: 1 }))
    await until(() => source.refreshes === 1)
    given.abort(new Error('gone'))
    expect(await aborted).toBe(given.signal.reason)
    expect(await short).toMatchObject({ code: 'ERR_WAIT_TIMEOUT', retryable: true })
    expect(await failureOf(tokens.getAccessToken({ signal: given.signal }))).toBe(given.signal.reason)
    held.open()
    expect([await other, source.refreshes]).toEqual(['ALICE-1', 1])
  })

  it('when the page closes its side, then its waits end, and the worker and other pages continue', async () => {
    const { manager, openPage, source } = startWorker()
    const [tokens, other] = [await openPage(), await openPage()]
    const held = gate()
    source.held = held.opened
    await tokens.adopt(grant('alice', { accessToken: undefined }))
    const waits = failureOf(tokens.getAccessToken())
    await until(() => source.refreshes === 1)
    await tokens.close()
    expect(await waits).toMatchObject({ code: 'ERR_CLOSED', retryable: false })
    for (const asked of [tokens.getAccessToken(), tokens.logout(), tokens.adopt(grant('bob'))])
      expect(await failureOf(asked)).toMatchObject({ code: 'ERR_CLOSED' })
    expect(tokens.status().phase).toBe('closed')
    held.open()
    expect([await other.getAccessToken(), manager.status().phase]).toEqual(['ALICE-1', 'fresh'])
  })

  it('when the worker no longer responds, then callers wait within their limits', async () => {
    const { connect } = startWorker()
    const port = connect()
    const tokens = page(await connectTokens(port))
    port.stop()
    expect(await failureOf(tokens.getAccessToken({ maxWaitMs: 1 }))).toMatchObject({ code: 'ERR_WAIT_TIMEOUT' })
  })

  it('when a page reports a mistake, then it warns its own listeners, and a mistake of the worker is reported in the page', async () => {
    const { openPage } = startWorker()
    const tokens = await openPage()
    const told = listen(tokens)
    const { baseUrl } = await startApi()
    await tokens.adopt(grant('alice'))
    const send = DOORS[2]!.open(tokens, { origins: ['https://elsewhere.example'] })
    await send(baseUrl)
    await until(() => told.anomaly.length === 1)
    expect(told.anomaly).toMatchObject([{ kind: 'origin-not-allowed' }])
  })

  it('when its store is unavailable, then the page gets the event', async () => {
    const away = () => Promise.reject(new Error('away'))
    const store = sharedStore({ kind: 'away', read: away, replace: away })
    const { openPage } = startWorker({ store })
    const tokens = await openPage()
    const told = listen(tokens)
    expect(await failureOf(tokens.getAccessToken())).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await until(() => told.storeUnavailable.length > 0)
    expect(told.storeUnavailable[0]!.message).toContain('The shared token store is unavailable')
  })

  it('when the token of the page has reached its expiry, then the page treats it as expired', async () => {
    const { openPage } = startWorker()
    const tokens = await openPage()
    await tokens.adopt(grant('alice'))
    const token = await tokens.getAccessToken()
    const { hasEnded } = internalsOf(tokens)!
    const now = performance.now.bind(performance)
    const after = (ms: number) => {
      performance.now = () => now() + ms
      return hasEnded(token)
    }
    try {
      expect([after(0), after(500_000), after(600_001)]).toEqual([false, false, true])
    } finally {
      performance.now = now
    }
  })

  it('when tokens pass through the page, then no message of the worker has a refresh token', async () => {
    const { openPage } = startWorker()
    const { prototype } = MessagePort
    const postMessage = Reflect.get(prototype, 'postMessage') as (...given: unknown[]) => void
    const posted = jest.spyOn(MessagePort.prototype, 'postMessage')
    posted.mockImplementation(function (this: InstanceType<typeof MessagePort>, ...given: unknown[]) {
      crossed.push(given[0])
      postMessage.apply(this, given)
    } as never)
    const tokens = await openPage()
    await tokens.adopt(grant('alice'))
    crossed.length = 0
    await tokens.renew()
    await tokens.replaceAccessToken(await tokens.getAccessToken())
    await tokens.logout()
    await arrived()
    expect(crossed.length).toBeGreaterThan(6)
    expect(JSON.stringify(crossed)).toContain('ALICE-1')
    expect(JSON.stringify(crossed)).not.toMatch(/refresh-of/)
  })
})

describe.each(DOORS)('given a page whose manager lives in a worker ($name)', ({ open }) => {
  /** An API that rejects the tokens of Alice. While it is held, it does not respond. */
  async function startBank() {
    const bank = { held: Promise.resolve() }
    const server = await startApi(async ({ headers }) => {
      await bank.held
      return headers.authorization === 'Bearer BOB' ? { body: 'executed as bob' } : rejection
    })
    return { server, bank }
  }
  async function startAlice() {
    const worker = startWorker()
    const port = worker.connect()
    const tokens = await worker.openPage(port)
    await tokens.adopt(grant('alice'))
    const { server, bank } = await startBank()
    const send = open(tokens, { origins: [server.baseUrl] })
    return { ...worker, port, tokens, server, bank, transfer: () => send(`${server.baseUrl}/transfer`, POST) }
  }
  it('when the API responds with a challenge, then the source in the worker receives it before its next exchange', async () => {
    const received: unknown[] = []
    const obtain = async () => ({ accessToken: `token-${received.push('obtain')}`, accessLifetimeMs: 60_000 })
    const source: TokenSource = { id: 'challenged', obtain }
    Object.defineProperty(source, CHALLENGED, { value: (challenge: unknown) => received.push(challenge) })
    const tokens = await startWorker({ source }).openPage()
    const challenge = 'Bearer error="insufficient_claims", claims="e30="'
    const server = await startApi((_, n) =>
      n === 0 ? { status: 401, headers: { 'WWW-Authenticate': challenge } } : {},
    )
    expect(await open(tokens, { origins: [server.baseUrl] })(server.baseUrl)).toMatchObject({ status: 200 })
    expect(received).toEqual(['obtain', challenge, 'obtain'])
  })

  it('when the refresh is rejected with claims, then the error of the request has them (F409)', async () => {
    const body = { error: 'interaction_required', claims: '{"id_token":{"acr":{"essential":true}}}' }
    const source = sourceBehind(answering(JSON.stringify(body), 400), { grant: 'login' })
    const tokens = await startWorker({ source }).openPage()
    await tokens.adopt({ refreshToken: 'refresh-of-alice' })
    const error = await failureOf(open(tokens, { origins: ['https://api.example'] })('https://api.example/'))
    expect(challengeOf(error)).toEqual(body)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('essential')
  })

  const changes: [string, (manager: LoginManager) => Promise<unknown>, code: string][] = [
    [
      'Alice logs out and Bob logs in',
      (manager) => manager.logout().then(() => manager.adopt(grant('bob'))),
      'ERR_LOGIN_REPLACED',
    ],
    ['Bob logs in', (manager) => manager.adopt(grant('bob')), 'ERR_LOGIN_REPLACED'],
    ['Alice logs out', (manager) => manager.logout(), 'ERR_LOGIN_REQUIRED'],
  ]

  it.each(changes)(
    'when a request is in flight to the worker and %s, then it is not sent (F271)',
    async (_, change, code) => {
      const { manager, port, server, transfer } = await startAlice()
      const held = gate()
      port.held = held.opened
      const failed = failureOf(transfer())
      await change(manager)
      held.open()
      expect(await failed).toMatchObject({ code })
      expect(server.received).toEqual([])
    },
  )

  it.each(changes)(
    'when a request waits for a token and %s, then it is not sent (F271, F405)',
    async (name, change) => {
      const { manager, openPage, source } = startWorker()
      const tokens = await openPage()
      const { server } = await startBank()
      const held = gate()
      source.held = held.opened
      await tokens.adopt(grant('alice', { accessToken: undefined }))
      const failed = failureOf(open(tokens, { origins: [server.baseUrl] })(`${server.baseUrl}/transfer`, POST))
      await until(() => source.refreshes === 1)
      const changed = change(manager)
      held.open()
      // A logout rejects it at once.
      const code = name === 'Bob logs in' ? 'ERR_LOGIN_REPLACED' : 'ERR_LOGIN_REQUIRED'
      expect(await failed).toMatchObject({ code })
      await changed
      expect(server.received).toEqual([])
    },
  )

  it.each(changes)('when a request is in flight and %s, then the caller gets its 401 (F209)', async (_, change) => {
    const { manager, server, bank, transfer, source } = await startAlice()
    const held = gate()
    bank.held = held.opened
    const sent = transfer()
    await until(() => server.received.length === 1)
    await change(manager)
    held.open()
    expect(await sent).toMatchObject({ status: 401 })
    expect([server.bearers, source.refreshes]).toEqual([['Bearer ALICE'], 0])
  })

  it('when the API rejects the token, then the request is replayed once with the next one of the same login', async () => {
    const { server, transfer, source } = await startAlice()
    expect(await transfer()).toMatchObject({ status: 401 })
    expect([server.bearers, source.refreshes]).toEqual([['Bearer ALICE', 'Bearer ALICE-1'], 1])
  })

  it('when the same user logs in again before the 401, then the request is replayed', async () => {
    const { tokens, server, bank, transfer } = await startAlice()
    const held = gate()
    bank.held = held.opened
    const sent = transfer()
    await until(() => server.received.length === 1)
    await tokens.adopt(grant('alice', { accessToken: 'BOB' }))
    held.open()
    expect(await sent).toMatchObject({ status: 200 })
  })

  it('when Bob logs in at the very click, then an earlier request is not sent as Bob, and a later one is', async () => {
    const { tokens, server, transfer } = await startAlice()
    const before = failureOf(transfer())
    const adopted = tokens.adopt(grant('bob'))
    const after = transfer()
    expect(await after).toMatchObject({ status: 200, text: 'executed as bob' })
    await adopted
    expect(await before).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    expect(server.bearers).toEqual(['Bearer BOB'])
  })

  it('when Bob logs in and out in one turn, then a request from between is not sent', async () => {
    const { manager, tokens, server, transfer } = await startAlice()
    const adopted = tokens.adopt(grant('bob'))
    const failed = failureOf(transfer())
    await Promise.all([adopted, tokens.logout()])
    expect(await failed).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect([server.received, manager.status().login]).toEqual([[], 'required'])
  })

  it('when another page logs Carol in while Bob logs in here, then requests of Bob are not sent as Carol', async () => {
    const { manager, tokens, server, transfer } = await startAlice()
    const adopt = manager.adopt.bind(manager)
    // Carol's login comes directly after that of Bob, before this page has received it.
    manager.adopt = async (given) => {
      await Promise.all([adopt(given), Promise.resolve().then(() => adopt(grant('carol')))])
    }
    const adopted = tokens.adopt(grant('bob'))
    const failed = failureOf(transfer())
    await adopted
    expect(await failed).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    expect(server.received).toEqual([])
    expect(await tokens.getAccessToken()).toBe('CAROL')
  })

  it('when the source can obtain without a user, then a caller that waits during a reset gets the next token', async () => {
    const held = gate()
    const source: TokenSource = {
      id: 'x',
      obtain: () => held.opened.then(() => ({ accessToken: 'BOB', accessLifetimeMs: 60_000 })),
    }
    const { manager, openPage } = startWorker({ source })
    const { server } = await startBank()
    const sent = open(await openPage(), { origins: [server.baseUrl] })(`${server.baseUrl}/transfer`, POST)
    await arrived()
    const reset = manager.reset()
    held.open()
    await reset
    expect(await sent).toMatchObject({ status: 200 })
  })
})

describe('given two pages of one worker', () => {
  it('when Bob has logged in elsewhere, and the page of Alice logs out before it is notified, then Bob stays (F270)', async () => {
    for (const act of ['logout', 'reset'] as const) {
      const { manager, openPage, source } = startWorker()
      const alice = await openPage()
      await alice.adopt(grant('alice'))
      // In one turn: no message of the worker can arrive in between.
      const adopted = manager.adopt(grant('bob'))
      expect(await alice[act]()).toEqual(act === 'logout' ? { revoked: false, reason: 'nothing' } : undefined)
      await adopted
      // His login replaces that of Alice, whose tokens are revoked.
      await until(() => source.revoked.length > 0)
      expect([manager.status().login, source.revoked]).toEqual(['present', ['refresh-of-alice']])
    }
  })

  it('when Bob has logged in elsewhere, and the page of Alice renews before it is notified, then there is no token request for Bob (F271)', async () => {
    const { manager, openPage, source } = startWorker()
    const alice = await openPage()
    await alice.adopt(grant('alice'))
    for (const ask of [() => alice.renew(), () => alice.replaceAccessToken('BOB')]) {
      // In one turn, as above.
      const adopted = manager.adopt(grant('bob'))
      expect(await failureOf(ask())).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
      await adopted
      await alice.adopt(grant('alice'))
    }
    expect(source.refreshes).toBe(0)
  })

  it('when one logs in, then the other is notified, and requests its token', async () => {
    const { openPage } = startWorker()
    const [one, other] = [await openPage(), await openPage()]
    const told = listen(other)
    await one.adopt(grant('alice'))
    await until(() => told.loginChanged.length === 1)
    expect([other.status().login, await other.getAccessToken()]).toEqual(['present', 'ALICE'])
  })

  it('when another user logs in in one, then both report another account, and that it was here: in the worker', async () => {
    const { openPage } = startWorker()
    const pages = [await openPage(), await openPage()] as const
    const told = pages.map((tokens) => listen(tokens))
    await pages[0].adopt(grant('alice'))
    await pages[0].adopt(grant('bob'))
    for (const { loginChanged } of told) {
      await until(() => loginChanged.length === 2)
      expect(loginChanged[1]).toEqual({ login: 'present', by: 'here', account: 'other' })
    }
  })
})

describe('given a page that logs Alice in, and acts again before the worker responds, over a store that is slow or silent', () => {
  /** Each step of the store takes 300 ms, or for ever, and the clock stands still unless the test advances it. */
  async function aliceIsPending(isSilent = false) {
    const clock = manualClock()
    const register = new MemoryRegister(clock)
    const step = () => new Promise<void>((resolve) => void (isSilent || clock.setTimer(resolve, 300)))
    const store = sharedStore(
      {
        kind: 'slow',
        read: (...given) => step().then(() => register.read(...given)),
        replace: (...given) => step().then(() => register.replace(...given)),
      },
      { commandTimeoutMs: 1_000 },
    )
    const { manager, openPage, source } = startWorker({ clock, store })
    const [tokens, other] = [await openPage(), await openPage()]
    endings.push(() => {
      void manager.close()
      return clock.advance(60_000)
    })
    tokens.adopt(grant('alice')).catch(() => undefined)
    await arrived()
    const settle = async () => {
      for (let n = 0; n < 20; n += 1) {
        await clock.advance(1_000)
        await arrived()
      }
    }
    return { tokens, other, source, settle, told: [listen(manager), listen(other)] }
  }
  const present = (account: string) => ({ login: 'present', account })
  const ended = { login: 'required', reason: 'logged-out' }

  it.each([
    ['adopt', false, present('other')],
    ['logout', false, ended],
    ['reset', false, ended],
    ['adopt', true, present('other')],
    ['logout', true, ended],
    ['reset', true, ended],
  ] as const)(
    'F400: when it is %s (silent: %s), then the worker and another page are told at once',
    async (name, isSilent, event) => {
      const { tokens, told } = await aliceIsPending(isSilent)
      const act = name === 'adopt' ? tokens.adopt(grant('bob')) : tokens[name]()
      act.catch(() => undefined)
      await arrived()
      expect(told.map(({ loginChanged }) => loginChanged)).toEqual(Array(2).fill([expect.objectContaining(event)]))
    },
  )

  it('when its logout is answered after two later logins, then the second one stays current', async () => {
    const { tokens, source, settle } = await aliceIsPending()
    await settle()
    const revoking = gate()
    source.revoke = () => revoking.opened
    void tokens.logout()
    await arrived()
    void tokens.adopt(grant('bob'))
    void tokens.adopt(grant('carol'))
    const asked = tokens.getAccessToken()
    await settle()
    revoking.open()
    await settle()
    expect(await asked).toBe('CAROL')
  })

  it('when Bob has logged in elsewhere in between, then its logout does nothing, and it follows Bob', async () => {
    const { tokens, other, source, settle } = await aliceIsPending()
    void other.adopt(grant('bob'))
    await arrived()
    const loggedOut = tokens.logout()
    await settle()
    expect(await loggedOut).toEqual({ revoked: false, reason: 'nothing' })
    expect([await tokens.getAccessToken(), source.revoked]).toEqual(['BOB', ['refresh-of-alice']])
  })

  it.each(['this page', 'another page'])(
    'F400: when it is told that Alice has logged in elsewhere, before its logout is answered, then a request of hers is not sent as Bob, who logs in in %s',
    async (where) => {
      const { openPage, source } = startWorker()
      const [tokens, other] = [await openPage(), await openPage()]
      await other.adopt(grant('dora'))
      await arrived()
      const told = listen(tokens)
      const revoking = gate()
      source.revoke = () => revoking.opened
      const loggedOut = tokens.logout()
      await arrived()
      await other.adopt(grant('alice'))
      await arrived()
      expect([told.loginChanged.at(-1)?.login, tokens.status().login]).toEqual(['present', 'present'])
      const asked = tokens.getAccessToken().catch((error: unknown) => (error as TokenError).code)
      const adopted = (where === 'this page' ? tokens : other).adopt(grant('bob'))
      await arrived()
      revoking.open()
      await Promise.all([loggedOut, adopted])
      expect(['ALICE', 'ERR_LOGIN_REPLACED']).toContain(await asked)
      expect(await tokens.getAccessToken()).toBe('BOB')
    },
  )

  it('when it logs out and Bob in, then requests from between get the token of Bob, and an earlier one none', async () => {
    const { tokens, settle } = await aliceIsPending()
    const ask = () => tokens.getAccessToken().catch((error: unknown) => (error as TokenError).code)
    const asked = [ask()]
    void tokens.logout()
    asked.push(ask())
    void tokens.adopt(grant('bob'))
    asked.push(ask())
    await settle()
    expect(await Promise.all(asked)).toEqual(['ERR_LOGIN_REPLACED', 'BOB', 'BOB'])
  })

  it('when Alice logs in again, then a request from between gets her later token', async () => {
    const { tokens, settle } = await aliceIsPending()
    const asked = tokens.getAccessToken()
    void tokens.adopt(grant('alice', { refreshToken: 'later', accessToken: 'LATER' }))
    await settle()
    expect(await asked).toBe('LATER')
  })
})

describe('given a page that is gone', () => {
  it('when its port has ended, then the worker keeps responding to the others', async () => {
    const { manager, openPage } = startWorker()
    const { port1, port2 } = new MessageChannel()
    endings.push(exposeTokens(manager, port2))
    const [gone, other] = [page(await connectTokens(port1)), await openPage()]
    void gone.getAccessToken().catch(() => undefined)
    port1.close()
    await other.adopt(grant('alice'))
    expect(await other.getAccessToken()).toBe('ALICE')
  })

  it('when it has been silent for ten minutes, then the worker sends it nothing; if it comes back, it is notified who is logged in', async () => {
    const clock = manualClock()
    const { manager, openPage } = startWorker({ clock })
    const [frozen, other] = [await openPage(), await openPage()]
    const [told, toldOther] = [listen(frozen), listen(other)]
    await frozen.adopt(grant('alice', { accessLifetimeMs: 86_400_000 }))
    await until(() => told.loginChanged.length === 1)
    await clock.advance(600_000)
    await manager.adopt(grant('bob', { accessLifetimeMs: 86_400_000 }))
    await until(() => told.loginChanged.length === 2)
    await other.getAccessToken()
    await clock.advance(1)
    await manager.adopt(grant('carol', { accessLifetimeMs: 86_400_000 }))
    await until(() => toldOther.loginChanged.length === 3)
    expect(told.loginChanged).toHaveLength(2)
    expect(await failureOf(frozen.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    await until(() => told.loginChanged.length === 3)
    expect(told.loginChanged[2]).toEqual({ login: 'present', by: 'elsewhere', account: 'unknown' })
    expect(await frozen.getAccessToken()).toBe('CAROL')
    await manager.logout()
    await until(() => told.loginChanged.length === 4)
  })
})

/** The service rejects the refresh token of the login, and all listeners are notified that one is required. */
async function losing(source: PersonSource, tokens: TokenManager): Promise<void> {
  source.failure = new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' })
  await failureOf(tokens.getAccessToken())
  await arrived()
}

/** As a service worker: it may be stopped and started again between two messages. */
function startServiceWorker() {
  let scope = new EventTarget()
  let stop = () => {}
  const kept: Promise<unknown>[] = []
  const start = () => {
    stop()
    scope = new EventTarget()
    const manager = createTokenManager({ source: new PersonSource() })
    const unserve = exposeTokens(manager, scope)
    stop = () => {
      unserve()
      void manager.close()
    }
    return manager
  }
  endings.push(() => stop())
  const worker = {
    scriptURL: 'https://site.example/worker.js',
    postMessage(data: unknown, transfer: readonly object[]) {
      const { port1, port2 } = new MessageChannel()
      port2.addEventListener('message', (event) => {
        const arrived = event as unknown as { data: unknown; ports: unknown }
        const waitUntil = (work: Promise<unknown>) => void kept.push(work)
        const origin = 'https://site.example'
        scope.dispatchEvent(
          Object.assign(new Event('message'), {
            data: arrived.data,
            ports: arrived.ports,
            waitUntil,
            origin,
          }),
        )
        port2.close()
      })
      port2.start()
      port1.postMessage(data, transfer as never)
    },
  }
  return { start, worker, kept }
}

describe('given a service worker', () => {
  it('when the browser has stopped it and starts it again, then nothing is sent, the page reports a required login, and continues after it', async () => {
    Object.assign(globalThis, { origin: 'https://site.example' })
    endings.push(() => Reflect.deleteProperty(globalThis, 'origin'))
    const { start, worker, kept } = startServiceWorker()
    start()
    const tokens = page(await connectTokens(worker))
    const told = listen(tokens)
    await tokens.adopt(grant('alice'))
    await until(() => told.loginChanged.length === 1)
    start()
    expect(await failureOf(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(tokens.status()).toMatchObject({ login: 'required', loginReason: 'none-yet' })
    await until(() => told.loginChanged.length === 2)
    expect(told.loginChanged[1]).toEqual({ login: 'required', by: 'elsewhere', account: 'unknown', reason: 'none-yet' })
    // The page connects again. If the worker stopped before that, the next one would receive the question.
    await until(() => kept.length === 4)
    const again = start()
    await again.adopt(grant('bob'))
    // A click of Alice that the stopped worker never received.
    expect(await failureOf(tokens.replaceAccessToken('ALICE'))).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    await until(() => told.loginChanged.length === 3)
    expect(await tokens.getAccessToken()).toBe('BOB')
    await again.logout()
    await until(() => told.loginChanged.length === 4)
    expect(told.loginChanged[3]).toMatchObject({ login: 'required', by: 'here' })
    // The browser keeps it alive until it has responded.
    expect(kept.length).toBeGreaterThan(5)
    await Promise.all(kept)
  })

  it('when there is no caller, then the page sends a message every 20 s, so that the browser does not stop the worker', async () => {
    Object.assign(globalThis, { origin: 'https://site.example' })
    endings.push(() => Reflect.deleteProperty(globalThis, 'origin'))
    const { start, worker, kept } = startServiceWorker()
    start()
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick', 'performance', 'Date'] })
    try {
      const tokens = await connectTokens(worker)
      expect(kept).toHaveLength(1)
      for (const asked of [2, 3]) {
        jest.advanceTimersByTime(19_999)
        await arrived()
        expect(kept).toHaveLength(asked - 1)
        jest.advanceTimersByTime(1)
        await until(() => kept.length === asked)
      }
      await tokens.close()
      jest.advanceTimersByTime(100_000)
      await arrived()
      expect([kept.length, jest.getTimerCount()]).toEqual([3, 0])
    } finally {
      jest.useRealTimers()
    }
  })

  it('when a window of another origin posts the message of a page, then there is no response', async () => {
    const scope = new EventTarget()
    const manager = createTokenManager({ source: new PersonSource() })
    endings.push(() => manager.close(), exposeTokens(manager, scope))
    const { port1, port2 } = new MessageChannel()
    const heard: unknown[] = []
    listenTo(port1, (data) => heard.push(data))
    port1.start()
    endings.push(() => port1.close())
    const data = { 'axios-evergreen': { name: 'look', page: 'x' } }
    const post = (origin: string | undefined) =>
      scope.dispatchEvent(Object.assign(new Event('message'), { data, ports: [port2], origin }))
    post('https://evil.example')
    await arrived()
    expect(heard).toEqual([])
    post('')
    await until(() => heard.length === 1)
    // Not every browser sets an origin.
    post(undefined)
    await until(() => heard.length === 2)
  })
})

it('given a shared worker, when pages connect, then each is connected through its own port, until that is stopped', async () => {
  const scope = new EventTarget()
  const { manager } = startWorker()
  const stop = exposeTokens(manager, scope)
  const connect = () => {
    const { port1, port2 } = new MessageChannel()
    scope.dispatchEvent(Object.assign(new Event('connect'), { ports: [port2] }))
    endings.push(() => port1.close())
    return { port: port1 }
  }
  const [one, other] = [page(await connectTokens(connect())), page(await connectTokens(connect()))]
  await one.adopt(grant('alice'))
  expect(await other.getAccessToken()).toBe('ALICE')
  stop()
  expect(await failureOf(other.getAccessToken({ maxWaitMs: 1 }))).toMatchObject({ code: 'ERR_WAIT_TIMEOUT' })
})

it('given a thread of Node that has the manager, when it ends in the middle of a wait, then the wait ends at once', async () => {
  // It receives messages, and never responds.
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
     parentPort.on('message', ({ 'axios-evergreen': { name }, port }) => {
       if (name === 'get') process.exit()
     })`,
    { eval: true },
  )
  const relay = {
    terminate: () => undefined,
    postMessage: (data: object, transfer: readonly object[]) =>
      worker.postMessage({ ...data, port: transfer[0] }, transfer as never),
  }
  endings.push(() => worker.terminate())
  const { postMessage } = relay
  let answered: ((data: unknown) => void) | undefined
  relay.postMessage = (data, transfer) => {
    if (!answered) {
      answered = (message) => (transfer[0] as InstanceType<typeof MessagePort>).postMessage(message)
      answered({ state: STATE, isUnknown: false })
    } else postMessage(data, transfer)
  }
  const tokens = page(await connectTokens(relay))
  expect(await failureOf(tokens.getAccessToken())).toMatchObject({
    code: 'ERR_WAIT_TIMEOUT',
    message: expect.stringMatching(/ended before it responded/),
  })
})
const STATE = {
  login: { worker: 'w', mark: 0 },
  at: 1,
  status: { phase: 'fresh', renewing: false, counts: {} },
  livesMs: 60_000,
  hasLogins: true,
  maxWaitMs: 30_000,
}

describe('given foreign messages to a worker', () => {
  it.each<[string, unknown]>([
    ['text', 'look'],
    ['nothing', undefined],
    ['null', null],
    ['a message of the application', { question: 'logIn' }],
    ['a question without a name', { 'axios-evergreen': { page: 'x' } }],
    ['a question that is not from a page', { 'axios-evergreen': { name: 'get' } }],
    ['a question that is a string', { 'axios-evergreen': 'get' }],
    ['a question that is null', { 'axios-evergreen': null }],
  ])('when it is %s, then there is no response, and pages get theirs as before', async (_, message) => {
    const { connect } = startWorker()
    const port = connect()
    const { port1, port2 } = new MessageChannel()
    const heard: unknown[] = []
    listenTo(port1, (data) => heard.push(data))
    port1.start()
    port.postMessage(message, [port2])
    port.postMessage(message)
    const tokens = page(await connectTokens(port))
    await tokens.adopt(grant('alice'))
    expect([await tokens.getAccessToken(), heard]).toEqual(['ALICE', []])
    port1.close()
  })

  it.each(['status', 'constructor', '__proto__', 'toString', 'revoke'])(
    'when it calls %s, then it is rejected',
    async (name) => {
      const { connect } = startWorker()
      const { port1, port2 } = new MessageChannel()
      const answer = new Promise((resolve) => listenTo(port1, resolve))
      port1.start()
      connect().postMessage({ 'axios-evergreen': { name, page: 'x' } }, [port2])
      expect(await answer).toMatchObject({
        error: { name: 'TypeError', message: expect.stringContaining(`does not support ${name}`) },
      })
      port1.close()
    },
  )
})

it('given a manager that throws a value that is not an error, when a page calls it, then the page gets an error that reports it', () => {
  expect(transferred('a text')).toEqual({ name: 'Error', message: 'The worker threw a value that is not an Error' })
  expect(transferred(new RangeError('too far'))).toEqual({ name: 'RangeError', message: 'too far' })
})

describe('given bad arguments', () => {
  it.each([
    [undefined, /^tokens must be an object/],
    [{ getAccessToken: () => undefined }, /^tokens must be a token manager/],
  ])('when the manager is %p, then a TypeError names it', (tokens, message) => {
    expect(() => exposeTokens(tokens as never)).toThrow(TypeError)
    expect(() => exposeTokens(tokens as never)).toThrow(message)
  })

  it.each([[{}], [null], [globalThis]])('when the scope is %p, then a TypeError names it', (scope) => {
    const { manager } = startWorker()
    expect(() => exposeTokens(manager, scope as never)).toThrow(/^scope/)
    expect(() => exposeTokens(manager, scope as never)).toThrow(TypeError)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['text', '/worker.js'],
    ['an address', new URL('https://site.example/worker.js')],
    ['a window', { postMessage: () => undefined }],
    ['a broadcast channel', Object.create(BroadcastChannel.prototype)],
    ['an invalid port', { port: {} }],
    ['a worker without postMessage', { terminate: () => undefined }],
  ])('when the worker is %s, then a TypeError names it', async (_, worker) => {
    const error = await failureOf(connectTokens(worker as never))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(/^worker/)
  })

  it('when a grant is invalid, then the page throws, the login stays unchanged, and nothing is posted', async () => {
    const { openPage } = startWorker()
    const tokens = await openPage()
    await tokens.adopt(grant('alice'))
    for (const given of [
      undefined,
      {},
      Promise.resolve({ accessToken: 'x' }),
      { accessToken: 'x' },
      grant('bob', { subject: 1 }),
    ])
      expect(await failureOf(tokens.adopt(given as never))).toBeInstanceOf(TypeError)
    expect(await tokens.getAccessToken()).toBe('ALICE')
    expect(await failureOf(tokens.getAccessToken({ maxWaitMs: -1 }))).toBeInstanceOf(RangeError)
    expect(await failureOf(tokens.renew({ signal: 'x' } as never))).toBeInstanceOf(TypeError)
    expect(() => tokens.on('constructor' as never, () => undefined)).toThrow(TypeError)
  })
})

describe('given a pending login in a page of a worker', () => {
  it('F284: when it completes, then the page has its token, and was not notified of a required login; other pages do not wait', async () => {
    const { openPage } = startWorker()
    const [tokens, other] = [await openPage(), await openPage()]
    const told = listen(tokens)
    const login = gate()
    const adopted = tokens.adopt(login.opened.then(() => grant('alice')))
    const waiting = tokens.getAccessToken()
    expect([tokens.status().login, other.status().login]).toEqual(['pending', 'required'])
    expect(await failureOf(other.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    await arrived()
    login.open()
    await adopted
    expect([await waiting, tokens.status().login]).toEqual(['ALICE', 'present'])
    await arrived()
    expect(told.loginChanged).toEqual([{ login: 'present', by: 'here', account: 'unknown' }])
  })

  it('F284: when it begins while the worker checks for a token, then earlier callers wait for it too', async () => {
    const { openPage } = startWorker()
    const tokens = await openPage()
    const login = gate()
    const waiting = tokens.getAccessToken()
    await Promise.resolve()
    const adopted = tokens.adopt(login.opened.then(() => grant('alice')))
    await arrived()
    login.open()
    await adopted
    expect(await waiting).toBe('ALICE')
  })

  it('F284: when another page logs out, then the page reports it only after the pending login has returned nothing', async () => {
    const { openPage } = startWorker()
    const [tokens, other] = [await openPage(), await openPage()]
    await other.adopt(grant('alice'))
    await arrived()
    const told = listen(tokens)
    const login = gate()
    const adopted = tokens.adopt(login.opened.then(() => undefined))
    expect([await tokens.getAccessToken(), tokens.status().login]).toEqual(['ALICE', 'pending'])
    await other.logout()
    await arrived()
    const waiting = failureOf(tokens.getAccessToken())
    await arrived()
    expect([tokens.status(), told.loginChanged]).toMatchObject([{ login: 'pending' }, []])
    expect(tokens.status()).not.toHaveProperty('loginReason')
    login.open()
    await adopted
    expect(await waiting).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'logged-out' })
    expect(told.loginChanged).toMatchObject([{ login: 'required', reason: 'logged-out' }])
  })

  it('F284: when it returns another user, then an earlier request gets no token of that user', async () => {
    const { openPage } = startWorker()
    const tokens = await openPage()
    await tokens.adopt(grant('alice', { accessLifetimeMs: 0 }))
    const login = gate()
    const adopted = tokens.adopt(login.opened.then(() => grant('bob')))
    const { currentGeneration: markOf, firstGeneration: firstGeneration } = internalsOf(tokens) ?? {}
    const begun = markOf?.() ?? 0
    login.open()
    await adopted
    expect([await tokens.getAccessToken(), begun >= (firstGeneration?.() ?? 0)]).toEqual(['BOB', false])
  })

  it.each(['alice', 'bob', undefined])(
    'F339: when the loss of the previous login was reported, then later callers get the token of the next one (%s)',
    async (subject) => {
      const { openPage, source } = startWorker()
      const tokens = await openPage()
      const told = listen(tokens)
      await tokens.adopt(grant('alice', { accessLifetimeMs: 0 }))
      const begun = internalsOf(tokens)?.currentGeneration?.() ?? 0
      source.failure = new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' })
      expect(await failureOf(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
      await arrived()
      expect(told.loginChanged.at(-1)).toMatchObject({ login: 'required' })
      const login = gate()
      const adopted = tokens.adopt(login.opened.then(() => grant('second', { subject })))
      const waiting = tokens.getAccessToken()
      await arrived()
      login.open()
      await adopted
      expect(await waiting).toBe('SECOND')
      // A request that began before the loss belongs to Alice.
      expect(begun >= (internalsOf(tokens)?.firstGeneration?.() ?? 0)).toBe(subject === 'alice')
    },
  )

  it.each([
    ['logs in twice', 0],
    ['and another one log in', 1],
  ])(
    'F339: when the page %s after a loss, then a request that began between the two gets no token of the second',
    async (_, second) => {
      const { openPage, source } = startWorker()
      const pages = [await openPage(), await openPage()] as const
      const [tokens] = pages
      await tokens.adopt(grant('alice', { accessLifetimeMs: 0 }))
      await losing(source, tokens)
      const first = tokens.adopt(grant('bob'))
      const begun = internalsOf(tokens)?.currentGeneration?.() ?? 0
      await Promise.all([first, pages[second]!.adopt(grant('carol'))])
      await arrived()
      expect(await tokens.getAccessToken()).toBe('CAROL')
      expect(begun >= (internalsOf(tokens)?.firstGeneration?.() ?? 0)).toBe(false)
    },
  )

  it('F363: when the worker waits for a login of its own, and a page completes a later one, then that is kept', async () => {
    const { manager, openPage, source } = startWorker()
    const tokens = await openPage()
    const login = gate()
    const adopted = manager.adopt(login.opened.then(() => grant('carol')))
    await tokens.adopt(grant('bob'))
    await arrived()
    login.open()
    await adopted
    await arrived()
    expect(await tokens.getAccessToken()).toBe('BOB')
    expect(source.revoked).toEqual([expect.stringContaining('carol')])
  })

  it('F363: when a page waits for a login, and logs out first, then nothing is pending there, and the login is revoked when it completes', async () => {
    const { openPage, source } = startWorker()
    const tokens = await openPage()
    const login = gate()
    const adopted = tokens.adopt(login.opened.then(() => grant('carol')))
    expect(tokens.status().login).toBe('pending')
    await tokens.logout()
    expect(tokens.status().login).not.toBe('pending')
    login.open()
    await adopted
    await arrived()
    expect(source.revoked).toEqual([expect.stringContaining('carol')])
  })

  it('F339: when the loss of the previous login is reported while a page starts the next one, then its requests get no token of a third', async () => {
    const { connect, manager, openPage, source } = startWorker()
    const port = connect()
    const [tokens, other] = [await openPage(port), await openPage()]
    await tokens.adopt(grant('alice', { accessLifetimeMs: 0 }))
    await arrived()
    const underWay = gate()
    port.held = underWay.opened
    const adopted = tokens.adopt(grant('bob'))
    await losing(source, manager)
    underWay.open()
    await adopted
    const begun = internalsOf(tokens)?.currentGeneration?.() ?? 0
    await other.adopt(grant('carol'))
    await arrived()
    expect(begun >= (internalsOf(tokens)?.firstGeneration?.() ?? 0)).toBe(false)
  })

  it('F339: when the same user logs in again in another page, then a request of that login gets no token of the pending one', async () => {
    const { manager, openPage, source } = startWorker()
    const [tokens, other] = [await openPage(), await openPage()]
    await manager.adopt(grant('alice', { accessLifetimeMs: 0 }))
    await losing(source, manager)
    await other.adopt(grant('alice'))
    const login = gate()
    const adopted = manager.adopt(login.opened.then(() => grant('carol')))
    await arrived()
    expect(await tokens.getAccessToken()).toBe('ALICE')
    const { currentGeneration: currentGeneration, firstGeneration: firstGeneration } = internalsOf(tokens) ?? {}
    const begun = currentGeneration?.() ?? 0
    login.open()
    await adopted
    await arrived()
    expect(begun >= (firstGeneration?.() ?? 0)).toBe(false)
  })

  it('F339: when the worker finds the loss before it receives the question of a page, then that caller gets no token of the next user', async () => {
    const { connect, manager, openPage, source } = startWorker()
    const port = connect()
    const tokens = await openPage(port)
    await tokens.adopt(grant('alice', { accessLifetimeMs: 0 }))
    await arrived()
    const login = gate()
    let isBegun = false
    manager.on('loginChanged', ({ login: change }) => {
      if (change !== 'required' || isBegun) return
      isBegun = true
      void manager.adopt(login.opened.then(() => undefined))
    })
    source.failure = new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' })
    const underWay = gate()
    port.held = underWay.opened
    const before = failureOf(tokens.getAccessToken())
    await failureOf(manager.getAccessToken())
    underWay.open()
    await arrived()
    const since = tokens.getAccessToken()
    await arrived()
    await tokens.adopt(grant('carol'))
    expect([await since, await before]).toMatchObject(['CAROL', { code: 'ERR_LOGIN_REPLACED' }])
    login.open()
  })

  it('F339: when a listener of the worker begins the next login at once, then later callers in a page wait for it', async () => {
    const source = new PersonSource()
    const manager = createTokenManager({ source })
    endings.push(() => manager.close())
    const login = gate()
    manager.on('loginChanged', ({ login: change }) => {
      if (change === 'required') void manager.adopt(login.opened.then(() => grant('bob')))
    })
    const { port1, port2 } = new MessageChannel()
    const stop = exposeTokens(manager, port2)
    endings.push(() => {
      stop()
      port1.close()
      port2.close()
    })
    const tokens = page(await connectTokens(port1))
    await tokens.adopt(grant('alice', { accessLifetimeMs: 0 }))
    await losing(source, tokens)
    const waiting = tokens.getAccessToken()
    await arrived()
    login.open()
    expect(await waiting).toBe('BOB')
  })

  it('F339: when a token of the lost login is rejected in a page, then it gets no token of another user', async () => {
    const { openPage, source } = startWorker()
    const tokens = await openPage()
    await tokens.adopt(grant('alice'))
    // The manager keeps the last eight tokens of a login.
    for (let n = 0; n < 9; n += 1) await tokens.renew()
    await tokens.adopt(grant('alice', { accessLifetimeMs: 0, refreshToken: 'another-of-alice' }))
    await losing(source, tokens)
    const login = gate()
    const adopted = tokens.adopt(login.opened.then(() => grant('bob')))
    const waiting = failureOf(tokens.replaceAccessToken('ALICE'))
    await arrived()
    login.open()
    await adopted
    expect(await waiting).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
  })

  it('F339: when a page logs out and another one logs in, then a request that began in between belongs to that login', async () => {
    const { openPage } = startWorker()
    const [tokens, other] = [await openPage(), await openPage()]
    await tokens.adopt(grant('alice'))
    await tokens.logout()
    const begun = internalsOf(tokens)?.currentGeneration?.() ?? 0
    await arrived()
    await other.adopt(grant('bob'))
    await arrived()
    expect([begun >= (internalsOf(tokens)?.firstGeneration?.() ?? 0), await tokens.getAccessToken()]).toEqual([
      true,
      'BOB',
    ])
  })

  it.each(['alice', 'bob', undefined])(
    'F339: when a page is opened after the loss, then callers who wait there get the token of the login it completes (%s)',
    async (subject) => {
      const { manager, openPage, source } = startWorker()
      await manager.adopt(grant('alice', { accessLifetimeMs: 0 }))
      source.failure = new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' })
      await failureOf(manager.getAccessToken())
      const tokens = await openPage()
      const login = gate()
      const adopted = tokens.adopt(login.opened.then(() => grant('second', { subject })))
      const waiting = tokens.getAccessToken()
      login.open()
      await adopted
      expect(await waiting).toBe('SECOND')
    },
  )

  it('F339: when another page logs in after a reported loss, then later requests belong to that login', async () => {
    const { openPage, source } = startWorker()
    const [tokens, other] = [await openPage(), await openPage()]
    await other.adopt(grant('alice', { accessLifetimeMs: 0 }))
    source.failure = new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' })
    const { currentGeneration: markOf, firstGeneration: firstGeneration } = internalsOf(tokens) ?? {}
    await arrived()
    const before = markOf?.() ?? 0
    expect(await failureOf(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    await arrived()
    const begun = markOf?.() ?? 0
    await other.adopt(grant('bob'))
    await arrived()
    const since = firstGeneration?.() ?? 0
    expect([before >= since, begun >= since, await tokens.getAccessToken()]).toEqual([false, true, 'BOB'])
  })

  it('F339: when another page finds that the login of the store is over, then later callers here get the next one', async () => {
    const store = memoryStore()
    const first = createTokenManager({ source: new PersonSource(), store })
    await first.adopt(grant('alice'))
    await first.logout()
    await first.close()
    const { openPage } = startWorker({ store })
    const [tokens, other] = [await openPage(), await openPage()]
    const come = gate()
    const adopted = tokens.adopt(come.opened.then(() => grant('bob')))
    expect(await failureOf(other.getAccessToken())).toMatchObject({ loginReason: 'logged-out' })
    await arrived()
    const waiting = tokens.getAccessToken()
    await arrived()
    come.open()
    await adopted
    expect(await waiting).toBe('BOB')
  })

  it.each(['close', 'logout'] as const)(
    'F343: when the page calls %s, then waiting callers are rejected at once',
    async (act) => {
      const { openPage } = startWorker()
      const tokens = await openPage()
      void failureOf(tokens.adopt(new Promise(() => undefined)))
      const waiting = failureOf(tokens.getAccessToken())
      await arrived()
      await tokens[act]()
      expect(await waiting).toMatchObject({ code: act === 'close' ? 'ERR_CLOSED' : 'ERR_LOGIN_REQUIRED' })
    },
  )

  it('F343: when a caller gives up, and the login completes, then no token is requested for that caller', async () => {
    const { openPage, source } = startWorker()
    const tokens = await openPage()
    const come = gate()
    const adopted = tokens.adopt(come.opened.then(() => grant('alice')))
    const controller = new AbortController()
    const waiting = failureOf(tokens.renew({ signal: controller.signal }))
    await arrived()
    controller.abort()
    expect(await waiting).toMatchObject({ name: 'AbortError' })
    come.open()
    await adopted
    await arrived()
    expect([source.refreshes, await tokens.getAccessToken()]).toEqual([0, 'ALICE'])
  })

  it('F284: when it fails, or the page is closed, then adopt rejects', async () => {
    const { openPage } = startWorker()
    const tokens = await openPage()
    const reason = new Error('the code was refused')
    expect(await failureOf(tokens.adopt(Promise.reject(reason)))).toBe(reason)
    expect(await failureOf(tokens.adopt(Promise.resolve({ accessToken: 'one' })))).toBeInstanceOf(TypeError)
    expect(tokens.status().login).toBe('required')
    await tokens.close()
    expect(await failureOf(tokens.adopt(Promise.reject(reason)))).toMatchObject({ code: 'ERR_CLOSED' })
  })
})
