import { describe, expect, it } from '@jest/globals'
import { memoryStore, type TokenStore } from '../../src/index.ts'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { LoginGenerations } from '../../src/core/login-generations.ts'
import { held, outcome } from '../support/managed.ts'
import { asked, begun, loginOf, open, refused, underWay } from '../support/people.ts'
import { settle } from '../support/watched-clock.ts'

/** A login is lost, and all listeners were notified that one is required. */
async function lost({ subject, store }: { subject?: string | undefined; store?: TokenStore } = {}) {
  const world = open(store)
  await world.tokens.adopt(loginOf('first', subject))
  await world.clock.advance(61_000)
  world.source.script.push(refused)
  expect(await asked(world.tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
  await settle()
  expect(world.observed.loginChanged.at(-1)).toMatchObject({ login: 'required', reason: 'refused' })
  return world
}

const NAMES: [string, string | undefined, string | undefined][] = [
  ['of an unknown user', undefined, undefined],
  ['of the same user', 'alice', 'alice'],
  ['of another user', 'alice', 'bob'],
]

describe.each<[string, () => TokenStore | undefined]>([
  ['a store', () => memoryStore()],
  ['no store', () => undefined],
])('given a login whose loss was reported, and %s', (_, storeOf) => {
  const ofStore = () => {
    const store = storeOf()
    return store && { store }
  }

  it.each(NAMES)('F339: when callers wait for the next login, %s, then they get its token', async (_of, one, other) => {
    const { tokens } = await lost({ subject: one, ...ofStore() })
    const page = underWay()
    const adopted = tokens.adopt(page.promise)
    const waiting = [tokens.getAccessToken(), tokens.renew().then(() => tokens.getAccessToken())].map(asked)
    await settle()
    page.come(loginOf('second', other))
    await adopted
    expect(await Promise.all(waiting)).toEqual(['second', 'second'])
  })

  it.each(NAMES)(
    'F339: when a token of the lost login is rejected, then it is replaced from the next login only if that is known at once to be of the same user (%s)',
    async (_of, one, other) => {
      const { tokens } = await lost({ subject: one, ...ofStore() })
      const page = underWay()
      const adopted = tokens.adopt(page.promise)
      const waiting = asked(tokens.replaceAccessToken('first'))
      await settle()
      page.come(loginOf('second', other))
      await adopted
      const end = other === 'alice' ? 'second' : 'ERR_LOGIN_REPLACED'
      expect([await waiting, await asked(tokens.replaceAccessToken('first'))]).toEqual([end, end])
    },
  )

  it('F339: when an older token of the lost login is rejected, then it gets no token of another user', async () => {
    const store = storeOf()
    const { clock, tokens, source } = open(store)
    await tokens.adopt(loginOf('first', 'alice'))
    await tokens.renew()
    await clock.advance(61_000)
    source.script.push(refused)
    expect(await asked(tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
    const page = underWay()
    const adopted = tokens.adopt(page.promise)
    const waiting = asked(tokens.replaceAccessToken('first'))
    page.come(loginOf('second', 'bob'))
    await adopted
    expect(await waiting).toBe('ERR_LOGIN_REPLACED')
  })

  it('F339: when the API rejects its valid token only now, then the sender gets the reason of the loss, and no token of another user', async () => {
    const { tokens, source } = open(storeOf())
    await tokens.adopt(loginOf('first', 'alice'))
    source.script.push(refused)
    expect(await asked(tokens.renew())).toBe('ERR_LOGIN_REQUIRED')
    expect(tokens.peekAccessToken()).toBe('first')
    const page = underWay()
    const adopted = tokens.adopt(page.promise)
    const waiting = outcome(tokens.replaceAccessToken('first'))
    page.come(loginOf('second', 'bob'))
    await adopted
    expect(await waiting).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'refused', status: 400 })
  })

  it('F339: when a first page returns no login, then callers keep waiting for the second', async () => {
    const { tokens, observed } = await lost(ofStore())
    const [first, second] = [underWay(), underWay()]
    const ends = [tokens.adopt(first.promise), tokens.adopt(second.promise)].map(asked)
    const waiting = asked(tokens.getAccessToken())
    await settle()
    first.fail(new Error('the window was closed'))
    await settle()
    second.come(loginOf('second'))
    expect([await waiting, await ends[1]]).toEqual(['second', undefined])
    expect(observed.loginChanged.map((change) => change.login)).toEqual(['present', 'required', 'present'])
  })

  it('F339: when the user logs out, then waiting callers are rejected, and the tokens are revoked', async () => {
    const { tokens, source } = await lost(ofStore())
    const page = underWay()
    const adopted = tokens.adopt(page.promise)
    const waiting = asked(tokens.getAccessToken())
    const ended = tokens.logout()
    expect(await waiting).toBe('ERR_LOGIN_REQUIRED')
    await ended
    page.come(loginOf('second'))
    await adopted
    await settle()
    // What arrives after the logout is revoked (F363).
    expect([tokens.peekAccessToken(), source.revoked]).toEqual([undefined, ['first-r', 'second-r']])
  })

  it('F339: when the same user has logged in again and out, then callers of that login get no token of the next', async () => {
    const { clock, tokens, source } = await lost({ subject: 'alice', ...ofStore() })
    await tokens.adopt(loginOf('second', 'alice'))
    await clock.advance(61_000)
    const late = held(() => source.grant())
    source.script.push(late.answer)
    const waiting = asked(tokens.getAccessToken())
    await settle()
    await tokens.adopt(loginOf('third', 'bob'))
    expect(await waiting).toBe('ERR_LOGIN_REPLACED')
    late.open()
  })
})

describe('given a lost login, and a listener that begins the next one when it is notified', () => {
  it.each(NAMES)(
    'F339: when the next login is %s, then later callers get its token, and earlier ones were rejected',
    async (_of, one, other) => {
      const world = open(undefined)
      const { clock, tokens, source } = world
      await tokens.adopt(loginOf('first', one))
      const page = underWay()
      tokens.on('loginChanged', ({ login: change }) => {
        if (change === 'required') void tokens.adopt(page.promise)
      })
      await clock.advance(61_000)
      source.script.push(refused)
      const before = asked(tokens.getAccessToken())
      await settle()
      const since = asked(tokens.getAccessToken())
      await settle()
      page.come(loginOf('second', other))
      expect([await before, await since]).toEqual(['ERR_LOGIN_REQUIRED', 'second'])
    },
  )
})

describe('given a login whose loss was reported here', () => {
  it('F339: when a user logs in elsewhere, then the next caller here gets that token', async () => {
    const store = memoryStore()
    const { clock, tokens, observed } = await lost({ subject: 'alice', store })
    await open(store, clock).tokens.adopt(loginOf('second', 'bob'))
    await clock.advance(1_000)
    expect(await asked(tokens.getAccessToken())).toBe('second')
    expect(observed.loginChanged.at(-1)).toMatchObject({ login: 'present', by: 'elsewhere' })
  })
})

describe('given a login whose loss was reported, and its rejected token', () => {
  it('F339: when the store still has no login, then later callers keep waiting for the pending login', async () => {
    const { clock, tokens } = await lost({ store: memoryStore() })
    expect(await asked(tokens.replaceAccessToken('first'))).toBe('ERR_LOGIN_REQUIRED')
    await clock.advance(5_000)
    const waiting = asked(tokens.getAccessToken())
    const page = underWay()
    const adopted = tokens.adopt(page.promise)
    await settle()
    page.come(loginOf('second'))
    await adopted
    expect(await waiting).toBe('second')
  })
})

describe('given a manager that knows the login of its store, but has no token of it yet', () => {
  const known = async () => {
    const store = memoryStore()
    const one = open(store)
    await one.tokens.adopt(loginOf('first', 'alice'))
    await one.clock.advance(61_000)
    const two = open(store, one.clock)
    return { one, two, request: begun(two.tokens) }
  }

  it('F339: when the user logs out elsewhere, then a caller of that login gets no token of the pending one', async () => {
    const { one, two } = await known()
    const late = held(() => one.source.grant())
    one.source.script.push(late.answer)
    void asked(one.tokens.getAccessToken())
    await settle()
    const waiting = asked(two.tokens.getAccessToken())
    await settle()
    expect(two.tokens.status().login).toBe('present')
    const page = underWay()
    const adopted = two.tokens.adopt(page.promise)
    const ended = one.tokens.logout()
    late.open()
    await settle()
    await ended
    await two.clock.advance(2_400)
    page.come(loginOf('second', 'bob'))
    await adopted
    expect(await waiting).toBe('ERR_LOGIN_REQUIRED')
  })

  it('F339: when the login turns out to be lost, then an earlier request does not belong to the next login', async () => {
    const { two, request } = await known()
    two.source.script.push(refused)
    expect(await asked(two.tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
    expect(request.mayBeSent()).toBe(true)
    await two.tokens.adopt(loginOf('second', 'bob'))
    expect(request.mayBeSent()).toBe(false)
  })

  it('F339: when the login turns out to be lost, and a user logs in elsewhere, then the same holds', async () => {
    const { one, two, request } = await known()
    two.source.script.push(refused)
    expect(await asked(two.tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
    await one.tokens.adopt(loginOf('second', 'bob'))
    await two.clock.advance(1_000)
    expect([await asked(two.tokens.getAccessToken()), request.mayBeSent()]).toEqual(['second', false])
  })

  it('when no user has ever logged in, then a request from before the first login belongs to it', async () => {
    const { tokens } = open(memoryStore())
    const request = begun(tokens)
    expect(await asked(tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
    await tokens.adopt(loginOf('first'))
    expect(request.mayBeSent()).toBe(true)
  })
})

describe('given a manager whose store reports that the last user has logged out', () => {
  it.each(['before', 'after'])(
    'F284: when a caller asks for a token %s the next login is pending, then the caller waits for that login',
    async (when) => {
      const store = memoryStore()
      const one = open(store)
      await one.tokens.adopt(loginOf('first'))
      await one.tokens.logout()
      const { tokens } = open(store, one.clock)
      const early = when === 'before' ? asked(tokens.getAccessToken()) : undefined
      if (!early) internalsOf(tokens)?.followLogin?.()
      const page = underWay()
      const adopted = tokens.adopt(page.promise)
      const waiting = early ?? asked(tokens.getAccessToken())
      await settle()
      page.come(loginOf('second'))
      await adopted
      expect(await waiting).toBe('second')
    },
  )
})

describe('given a logout while a login is pending', () => {
  it('F339: when a listener begins another one, then later callers wait for that one', async () => {
    const { tokens } = open(undefined)
    await tokens.adopt(loginOf('first', 'alice'))
    const [first, second] = [underWay(), underWay()]
    const failed = asked(tokens.adopt(first.promise))
    tokens.on('loginChanged', ({ login: change }) => {
      if (change === 'required') void tokens.adopt(second.promise)
    })
    await tokens.logout()
    await settle()
    const waiting = asked(tokens.getAccessToken())
    first.fail(new Error('the window was closed'))
    await failed
    await settle()
    second.come(loginOf('second', 'bob'))
    expect(await waiting).toBe('second')
  })
})

describe('given a logout elsewhere that was reported', () => {
  it('F339: when the store reports it again, then later callers keep waiting for the pending login', async () => {
    const store = memoryStore()
    const { clock, tokens } = open(store)
    await tokens.adopt(loginOf('first', 'alice'))
    await open(store, clock).tokens.logout()
    await clock.advance(61_000)
    expect(await asked(tokens.getAccessToken())).toBe('ERR_LOGIN_REQUIRED')
    await clock.advance(5_000)
    const waiting = asked(tokens.getAccessToken())
    const page = underWay()
    const adopted = tokens.adopt(page.promise)
    await settle()
    page.come(loginOf('second', 'bob'))
    await adopted
    expect(await waiting).toBe('second')
  })
})

describe('given login generations of requests', () => {
  const isOf = (marks: LoginGenerations, mark: number) => mark >= marks.first

  it('when a login ends, then earlier requests belong to no later login', () => {
    const marks = new LoginGenerations()
    const before = marks.current
    marks.end()
    expect([isOf(marks, before), isOf(marks, marks.current)]).toEqual([false, true])
    const meanwhile = marks.current
    marks.lossReported()
    marks.replaced()
    expect([isOf(marks, before), isOf(marks, meanwhile)]).toEqual([false, true])
    marks.replaced()
    expect([isOf(marks, meanwhile), isOf(marks, marks.current)]).toEqual([false, true])
  })

  it('when the loss of a login was reported, then later requests belong to the next login, and earlier ones to the same login', () => {
    const marks = new LoginGenerations()
    const before = marks.current
    marks.lossReported()
    const after = marks.current
    expect([isOf(marks, before), isOf(marks, after)]).toEqual([true, true])
    marks.lossReported()
    expect(marks.current).toBe(after)
    marks.replaced()
    expect([isOf(marks, before), isOf(marks, after)]).toEqual([false, true])
    marks.replaced()
    expect(isOf(marks, after)).toBe(false)
  })

  it('when the lost login is restored, then all earlier requests belong to it, and to no other login', () => {
    const marks = new LoginGenerations()
    marks.lossReported()
    const after = marks.current
    marks.started()
    expect(isOf(marks, after)).toBe(true)
    marks.replaced()
    expect(isOf(marks, after)).toBe(false)
  })
})
