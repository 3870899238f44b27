import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type ExchangeContext, memoryStore, TokenError, type TokenStore } from '../../src/index.ts'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { asked, begun, loginOf, open } from '../support/people.ts'
import { settle } from '../support/watched-clock.ts'
import { session } from '../../src/login/index.ts'

const REFUSED = { outcome: 'rejected', refreshToken: 'refused', status: 401 } as const

type Clock = ReturnType<typeof manage>['clock']

const renewal = { keepWarm: 'never' } as const

describe.each(['here', 'elsewhere'] as const)(
  'given a manager that has found the login of Alice in its store, with an expired token, when Bob logs in %s',
  (where) => {
    const found = async () => {
      const store = memoryStore()
      const one = open(store)
      await one.tokens.adopt(loginOf('alice', 'alice'))
      await one.clock.advance(61_000)
      const two = open(store, one.clock)
      return { ...two, bobLogsIn: () => (where === 'here' ? two : one).tokens.adopt(loginOf('bob', 'bob', 600_000)) }
    }

    it('F340: while the token is renewed, then callers of Alice get no token of Bob', async () => {
      const { bobLogsIn, clock, source, tokens } = await found()
      const late = held(() => source.grant())
      source.script.push(late.answer)
      const waiting = asked(tokens.getAccessToken())
      await settle()
      expect(tokens.status().login).toBe('present')
      const request = begun(tokens)
      await bobLogsIn()
      late.open()
      await clock.advance(1_000)
      expect([await waiting, request.mayBeSent(), await asked(tokens.getAccessToken())]).toEqual([
        'ERR_LOGIN_REPLACED',
        false,
        'bob',
      ])
    })

    it('F340: after a failed renewal, then a request of Alice gets no token of Bob', async () => {
      const { bobLogsIn, clock, source, tokens } = await found()
      source.script.push(...Array.from({ length: 20 }, () => failing(503)))
      const waiting = asked(tokens.getAccessToken())
      await clock.advance(31_000)
      expect(await waiting).toBe('ERR_TOKEN_SERVICE_UNAVAILABLE')
      const request = begun(tokens)
      source.script.length = 0
      await bobLogsIn()
      await clock.advance(31_000)
      await asked(tokens.getAccessToken())
      expect([await asked(tokens.getAccessToken()), request.mayBeSent()]).toEqual(['bob', false])
    })
  },
)

describe('given a session in a cookie', () => {
  let cookie: string | undefined
  class CookieSource extends ScriptedSource {
    readonly login = session
    /** Whether the service names the user of a token. */
    namesPeople = true
    override obtain(context: ExchangeContext) {
      const person = cookie
      this.script.push(person === undefined ? failing(401) : () => this.#fromTokenResponse(person))
      return super.obtain(context)
    }
    #fromTokenResponse(person: string) {
      return this.grant({
        accessToken: `${person}-${this.calls.length}`,
        ...(this.namesPeople && person !== 'nobody' && { subject: person }),
      })
    }
  }
  const tab = (store?: TokenStore, clock?: Clock) => {
    const source = new CookieSource({ lifetimeMs: 60_000 })
    return { ...manage(source, { renewal, ...(store && { store }) }, clock), source }
  }
  beforeEach(() => {
    cookie = 'alice'
  })

  it('F341: when a page has just loaded, and the store has the token set of Bob, who has logged out since, then the first caller gets the token of Alice', async () => {
    const store = memoryStore()
    const one = tab(store)
    cookie = 'bob'
    one.source.pairs = true
    await one.tokens.getAccessToken()
    await one.clock.advance(61_000)
    cookie = 'alice'
    const two = tab(store, one.clock)
    two.source.refresh = () => Promise.reject(new TokenError('ERR_REFRESH_REJECTED', 'refused', REFUSED))
    expect(await asked(two.tokens.getAccessToken())).toBe('alice-1')
    expect(two.observed.loginChanged).toEqual([{ login: 'present', by: 'here', account: 'unknown' }])
  })

  it('F344: when its own token set is refreshed, and the service names the user differently, then it is the same login', async () => {
    const { clock, source, tokens, observed } = tab(memoryStore())
    source.pairs = true
    await tokens.getAccessToken()
    const request = begun(tokens)
    source.refresh = () => Promise.resolve(source.grant({ subject: 'auth0|17' }))
    await clock.advance(61_000)
    expect([await asked(tokens.getAccessToken()), request.mayBeSent()]).toEqual(['access-2', true])
    expect(observed.loginChanged).toHaveLength(1)
  })

  it('F341: when another tab has the token of Bob, then this tab reports another account, and its requests of Alice get no token', async () => {
    const store = memoryStore()
    const one = tab(store)
    await one.tokens.getAccessToken()
    const two = tab(store, one.clock)
    expect(await asked(two.tokens.getAccessToken())).toBe('alice-1')
    const request = begun(two.tokens)
    await one.clock.advance(61_000)
    cookie = 'bob'
    await asked(one.tokens.getAccessToken())
    const waiting = asked(two.tokens.getAccessToken())
    await one.clock.advance(1_000)
    expect([await waiting, request.mayBeSent()]).toEqual(['ERR_LOGIN_REPLACED', false])
    expect(await asked(two.tokens.getAccessToken())).toBe(await asked(one.tokens.getAccessToken()))
    expect(two.observed.loginChanged.at(-1)).toEqual({ login: 'present', by: 'elsewhere', account: 'other' })
  })

  it.each([
    ['bob', true, false],
    ['bob', false, false],
    ['nobody', true, false],
    ['alice', true, true],
    ['alice', false, false],
  ])(
    'F341: when the loss was reported, and the next session is of %s (the service names the user: %s), then earlier requests get a token only if that user is known to be Alice',
    async (next, namesPeople, mayBeSent) => {
      const { clock, source, tokens, observed } = tab()
      source.namesPeople = namesPeople
      await tokens.getAccessToken()
      const request = begun(tokens)
      cookie = undefined
      await clock.advance(61_000)
      expect(await asked(tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
      expect(observed.loginChanged.at(-1)).toMatchObject({ login: 'required', reason: 'refused' })
      const later = begun(tokens)
      cookie = next
      await clock.advance(11_000)
      expect(await outcome(tokens.getAccessToken())).toMatch(next)
      expect([request.mayBeSent(), later.mayBeSent()]).toEqual([mayBeSent, true])
    },
  )
})

describe('given a login with a subject', () => {
  it.each([
    ['a store', () => memoryStore()],
    ['no store', () => undefined],
  ])(
    'F344: when a refresh names that user differently, and there is %s, then it is the same login',
    async (_, storeOf) => {
      const { clock, source, tokens, observed } = open(storeOf())
      await tokens.adopt(loginOf('alice', 'alice@example.com'))
      const request = begun(tokens)
      await clock.advance(61_000)
      source.script.push(() => source.grant({ subject: 'auth0|17' }))
      expect([await asked(tokens.getAccessToken()), request.mayBeSent()]).toEqual(['access-1', true])
      expect(observed.loginChanged).toHaveLength(1)
    },
  )

  it('F342: when the same user has logged in elsewhere, and logs in here again, then a request between the two logins is sent', async () => {
    const store = memoryStore()
    const here = open(store)
    const there = open(store, here.clock)
    await here.tokens.adopt(loginOf('alice', 'alice', 600_000))
    await there.tokens.logout()
    await there.tokens.adopt(loginOf('alice-2', 'alice', 600_000))
    await internalsOf(here.tokens)!.checkLogin!()
    expect(here.observed.loginChanged.at(-1)).toEqual({ login: 'present', by: 'elsewhere', account: 'same' })
    const request = begun(here.tokens)
    await here.tokens.adopt(loginOf('alice-3', 'alice', 600_000))
    expect([here.tokens.peekAccessToken(), request.mayBeSent()]).toEqual(['alice-3', true])
  })

  it('F342: when Bob logs in and out in one turn, Alice logs in elsewhere, and Bob logs in again, then a request of Alice gets no token of Bob', async () => {
    const store = memoryStore()
    const here = open(store)
    const there = open(store, here.clock)
    await here.tokens.adopt(loginOf('alice', 'alice', 600_000))
    await Promise.all([here.tokens.adopt(loginOf('bob', 'bob', 600_000)), here.tokens.logout()])
    await there.tokens.adopt(loginOf('alice-2', 'alice', 600_000))
    await internalsOf(here.tokens)!.checkLogin!()
    expect(await asked(here.tokens.getAccessToken())).toBe('alice-2')
    const request = begun(here.tokens)
    await here.tokens.adopt(loginOf('bob-2', 'bob', 600_000))
    expect([here.tokens.peekAccessToken(), request.mayBeSent()]).toEqual(['bob-2', false])
  })
})

describe('given a source without logins whose service names users', () => {
  it('F344: when it obtains a token of Bob, then a request of Alice is not sent again, and adopting a login of Bob revokes nothing', async () => {
    const { source, tokens } = manage(new ScriptedSource(), { renewal })
    const revoked: unknown[] = []
    Object.assign(source, {
      revoke: async ({ accessToken }: { accessToken: string }) => void revoked.push(accessToken),
    })
    source.script.push(
      () => source.grant({ subject: 'alice' }),
      () => source.grant({ subject: 'bob' }),
    )
    const { firstGeneration: firstGeneration } = internalsOf(tokens)!
    await tokens.getAccessToken()
    const alice = firstGeneration!()
    await tokens.renew()
    const bob = firstGeneration!()
    await tokens.adopt(loginOf('bob', 'bob'))
    await tokens.settled()
    expect([bob > alice, revoked]).toEqual([true, []])
  })
})

describe('given a page without WebCrypto, which cannot compute fingerprints', () => {
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it('F342: when Alice logs in, Bob logs in elsewhere, and Alice logs in again, then a request of Bob gets no token of Alice', async () => {
    jest.spyOn(crypto.subtle, 'digest').mockRejectedValue(new TypeError('no secure context'))
    const store = memoryStore()
    const one = open(store)
    const two = open(store, one.clock)
    await two.tokens.adopt(loginOf('alice', 'alice'))
    expect(two.observed.loginChanged).toEqual([{ login: 'present', by: 'here', account: 'unknown' }])
    await one.tokens.adopt(loginOf('bob', 'bob'))
    await internalsOf(two.tokens)!.checkLogin!()
    expect(await asked(two.tokens.getAccessToken())).toBe('bob')
    const request = begun(two.tokens)
    await two.tokens.adopt(loginOf('alice-2', 'alice'))
    expect([two.tokens.peekAccessToken(), request.mayBeSent()]).toEqual(['alice-2', false])
  })
})
