import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { type LastLoginAct, lastLoginCourses } from './last-login-course.ts'
import { nothingStood, travelToLastLogin } from './last-login-voyage.ts'
import { type LoginAct, loginCourses, type Person, type Which } from './login-course.ts'
import { nothingSent } from './login-traffic.ts'
import { travelWithLogins } from './login-voyage.ts'
import { NO_DELAY } from '../support/drawn-delays.ts'
import { part, share } from '../support/part.ts'
import { patience, runs } from './runs.ts'
import { undisturbed } from './undisturbed.ts'

const unhandled = undisturbed()

const USUAL = part(400, 120)

describe.each([
  [
    'attachments that are added and removed, three users who log in and out, and requests in flight (F209, F210)',
    false,
  ],
  [
    'attachments that are added and removed, a session cookie that two users have alternately, and requests in flight (F209, F341)',
    true,
  ],
])('given two managers, %s', (_, isSession) => {
  it(
    'then no request has the token of another login, and everything ends',
    async () => {
      const sent = nothingSent()
      await fc.assert(
        fc.asyncProperty(loginCourses, (course) => travelWithLogins({ ...course, isSession }, unhandled, sent)),
        runs(USUAL),
      )
      // These courses go where the promises could be broken.
      expect(Math.min(...Object.values<number>({ ...sent }))).toBeGreaterThan(USUAL / 10)
    },
    patience(USUAL),
  )
})

const LAST = part(400, share(250, 50))

describe('given three managers of a store that may fail for one of them alone, logins, also promised ones, and logouts', () => {
  it(
    'when all is well again and everybody has looked, then the last login stands, everywhere, unless it was logged out (F360 to F363)',
    async () => {
      const stood = nothingStood()
      await fc.assert(
        fc.asyncProperty(lastLoginCourses, (course) => travelToLastLogin(course, unhandled, stood)),
        runs(LAST),
      )
      // These courses go where the promise could be broken.
      expect(Math.min(...Object.values<number>({ ...stood }))).toBeGreaterThan(LAST / 60)
    },
    patience(LAST),
  )

  it.each<[string, Person]>([
    ['the same user', 'alice'],
    ['another user', 'bob'],
  ])(
    'when %s logs in later and out again, all while the store is down, then no user is logged in (F360)',
    async (_, who) => {
      const down = ([0, 1] as const).map((at) => ({ act: 'store', at, is: 'down' }) as const)
      const logins = [{ act: 'login', at: 0, who: 'alice' } as const, { act: 'login', at: 1, who } as const]
      const acts: LastLoginAct[] = [...down, ...logins, { act: 'logout', at: 1 }]
      await expect(
        travelToLastLogin({ acts, onUnavailable: 'private', delays: NO_DELAY }, unhandled, nothingStood()),
      ).resolves.toBeUndefined()
    },
  )

  it('when the clock of the store was set back to just before the last login, then a login of another user stands (F401)', async () => {
    const store = (is: 'down' | 'well') => ({ act: 'store', at: 1, is }) as const
    const acts: LastLoginAct[] = [
      ...[store('down'), { act: 'login', at: 1, who: 'alice' } as const, store('well')],
      ...[{ act: 'set back', backMs: 10_500 } as const, { act: 'login', at: 0, who: 'carol' } as const],
    ]
    await expect(
      travelToLastLogin({ acts, onUnavailable: 'private', delays: NO_DELAY }, unhandled, nothingStood()),
    ).resolves.toBeUndefined()
  })

  it('when a login reaches the store late, and its manager does not receive its number, then its logout does not end a later login (F361)', async () => {
    const store = (is: 'down' | 'slow') => ({ act: 'store', at: 0, is }) as const
    const pause = (ms: number) => ({ act: 'advance', ms }) as const
    const acts: LastLoginAct[] = [
      ...[store('down'), { act: 'login', at: 0, who: 'bob' } as const, store('down'), pause(70_000)],
      ...[store('slow'), pause(1_000), store('down'), { act: 'login', at: 1, who: 'alice' } as const],
      ...[{ act: 'logout', at: 0 } as const, store('down')],
    ]
    await expect(
      travelToLastLogin({ acts, onUnavailable: 'private', delays: NO_DELAY }, unhandled, nothingStood()),
    ).resolves.toBeUndefined()
  })

  it('when a manager that requires a login renews, and fails after it has read a login of another manager, then it reports that login before its logout can end it (F362)', async () => {
    const acts: LastLoginAct[] = [
      ...[{ act: 'store', at: 2, is: 'unanswered' } as const, { act: 'login', at: 0, who: 'alice' } as const],
      ...[{ act: 'renew', at: 2 } as const, { act: 'logout', at: 2 } as const],
    ]
    await expect(
      travelToLastLogin({ acts, onUnavailable: 'private', delays: NO_DELAY }, unhandled, nothingStood()),
    ).resolves.toBeUndefined()
  })

  it('when a manager that requires a login renews, and finds a login without a refresh token, then its logout does not end that login (F362)', async () => {
    const login = { act: 'login', at: 0, who: 'alice', isShort: true } as const
    const acts: LastLoginAct[] = [login, { act: 'renew', at: 2 }, { act: 'logout', at: 2 }]
    await expect(
      travelToLastLogin({ acts, onUnavailable: 'private', delays: NO_DELAY }, unhandled, nothingStood()),
    ).resolves.toBeUndefined()
  })

  it('when a user logs out twice while the store is down, and has logged in elsewhere between the two, then that login stays (F362)', async () => {
    const [logout, down] = [{ act: 'logout', at: 0 } as const, { act: 'store', at: 0, is: 'down' } as const]
    const [login, elsewhere] = ([0, 1] as const).map((at) => ({ act: 'login', at, who: 'alice' }) as const)
    for (const before of [[], [{ act: 'store', at: 0, is: 'well' } as const]]) {
      const acts: LastLoginAct[] = [login!, down, logout, elsewhere!, ...before, logout]
      await expect(
        travelToLastLogin({ acts, onUnavailable: 'private', delays: NO_DELAY }, unhandled, nothingStood()),
      ).resolves.toBeUndefined()
    }
  })

  it('when a user logs in again while the store is down, and logs out twice, then no user is logged in', async () => {
    const [login, logout] = [{ act: 'login', at: 0, who: 'bob' } as const, { act: 'logout', at: 0 } as const]
    const acts: LastLoginAct[] = [login, { act: 'store', at: 0, is: 'down' }, login, logout, logout]
    await expect(
      travelToLastLogin({ acts, onUnavailable: 'private', delays: NO_DELAY }, unhandled, nothingStood()),
    ).resolves.toBeUndefined()
  })
})

describe('given a login that the store did not receive, and a request of it that the API rejects', () => {
  const told = async (...acts: LoginAct[]) => {
    const sent = nothingSent()
    const commands = acts.map((what) => ({ what, turns: undefined }))
    await travelWithLogins({ store: 'register', draws: [0], commands }, unhandled, sent)
    return sent
  }
  const login = (at: Which, who: Person) => ({ act: 'login', at, who, brings: 'both' }) as const
  const request = {
    act: 'request',
    door: 'axios',
    at: 1,
    times: 1,
    takesMs: 10,
    pauseMs: 0,
    pausesFirst: false,
    shares: false,
  } as const
  const [down, well] = (['down', 'well'] as const).map((is) => ({ act: 'register', is }) as const)
  const refuse = { act: 'refuse', at: 1 } as const
  const pause = (ms: number) => ({ act: 'advance', ms }) as const

  it('when the store has an earlier login of the same millisecond, then the request gets a new token of its own login (F329)', async () => {
    const sent = await told({ act: 'logout', at: 0 }, login(1, 'carol'), down!, login(1, 'alice'), request, refuse)
    expect(sent).toMatchObject({ requests: 2, replayed: 1 })
  })

  it('when that login ends before the store can be reached, then no request gets a token of the login before it (F360)', async () => {
    const late = { act: 'register', is: 'late' } as const
    const slow = { act: 'service', ends: 'accepted', times: 1, takesMs: 12_000 } as const
    const first = { ...request, takesMs: 5_000 }
    const sent = await told(login(1, 'carol'), late, login(1, 'alice'), slow, first, refuse, pause(120_000), request)
    expect(sent).toMatchObject({ requests: 1, replayed: 0, heldBack: 1 })
  })

  it('when a user has logged in elsewhere since, then the request does not get a token of that login (F209)', async () => {
    const sent = await told(down!, login(1, 'alice'), request, well!, pause(1), login(0, 'carol'), refuse)
    expect(sent).toMatchObject({ requests: 1, replayed: 0 })
  })
})
