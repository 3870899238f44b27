import { describe, expect, it } from '@jest/globals'
import { settle } from '../support/watched-clock.ts'
import type { LoginReason } from '../../src/core/errors.ts'
import { loginRequired } from '../../src/login/login-required.ts'
import type { Events } from '../../src/core/events.ts'
import { continues } from '../../src/record/identity.ts'
import { LoginWatch } from '../../src/login/login-watch.ts'
import type { StoredTokens } from '../../src/core/stored-tokens.ts'

function start({ isAlone = false } = {}) {
  const told: unknown[] = []
  const events = { emit: (_: string, change: unknown) => told.push(change) } as unknown as Events
  return { watch: new LoginWatch(events, false, isAlone), told }
}
/** A user logs in here; the fingerprint of `name` follows. */
async function logIn(watch: LoginWatch, name: string | undefined): Promise<void> {
  watch.began(name, 'an id', Promise.resolve(name))
  await settle()
}
const isAdoptedBySame = (watch: LoginWatch, name: string | undefined) => continues(watch.user, 'adopted', { name })
const REQUIRED = { login: 'required', account: 'unknown' }
const of = (tokens: Partial<StoredTokens>) => tokens as StoredTokens

describe('given what a manager knows of its login', () => {
  it('when it is new, then a login is required if no other owner can have one, and nothing is known with a store', () => {
    expect(start({ isAlone: true }).watch.statusWith()).toEqual({ login: 'required', loginReason: 'none-yet' })
    expect(start().watch.statusWith()).toEqual({})
  })

  it('when a user logs in, out and in again, then each change is reported once, with the account as far as it is known', async () => {
    const { watch, told } = start()
    await logIn(watch, 'alice')
    expect(watch.statusWith()).toEqual({ login: 'present' })
    watch.required('logged-out', 'here')
    watch.required('refused', 'elsewhere')
    expect(watch.statusWith()).toEqual({ login: 'required', loginReason: 'refused' })
    for (const subject of ['alice', 'bob', undefined, 'bob']) await logIn(watch, subject)
    expect(told).toEqual([
      { login: 'present', by: 'here', account: 'unknown' },
      { ...REQUIRED, by: 'here', reason: 'logged-out' },
      ...['same', 'other', 'unknown', 'unknown'].map((account) => ({ login: 'present', by: 'here', account })),
    ])
  })

  it('when its tokens are renewed, then the user stays, and a refresh that names no user changes nothing', async () => {
    const { watch, told } = start()
    await logIn(watch, 'alice')
    watch.seen({ login: 1, subject: 'alice' }, false)
    watch.seen({ login: 1 }, false)
    expect([isAdoptedBySame(watch, 'alice'), isAdoptedBySame(watch, 'bob'), isAdoptedBySame(watch, undefined)]).toEqual(
      [true, false, false],
    )
    watch.required('refused', 'here')
    // Her name outlives her login: if she logs in again, waiting requests belong to her.
    expect(isAdoptedBySame(watch, 'alice')).toBe(true)
    expect(told).toEqual([
      { login: 'present', by: 'here', account: 'unknown' },
      { ...REQUIRED, by: 'here', reason: 'refused' },
    ])
  })

  it('when the record names another user, then the name that was given here no longer counts', async () => {
    const { watch, told } = start()
    await logIn(watch, 'alice')
    watch.seen({ login: 1, subject: 'bob' }, true)
    expect([isAdoptedBySame(watch, 'alice'), isAdoptedBySame(watch, 'bob')]).toEqual([false, false])
    watch.seen({ login: 1, subject: 'bob-renamed' }, false)
    watch.seen({ login: 2, subject: 'bob-renamed' }, true)
    watch.seen({ login: 3 }, true)
    watch.seen({ login: 4, subject: 'bob-renamed' }, true)
    expect(told.slice(1)).toEqual(
      ['other', 'same', 'unknown', 'unknown'].map((account) => ({ login: 'present', by: 'elsewhere', account })),
    )
  })

  it('when no user is known, then tokens without a user belong to no user known to the manager', async () => {
    const { watch } = start()
    await logIn(watch, undefined)
    expect(isAdoptedBySame(watch, undefined)).toBe(false)
  })
})

describe('given tokens of the record, when they may belong to another login (R10)', () => {
  it('then another number means another login, even a lower one after a loss (F272); the same number and none do not', () => {
    const { watch } = start()
    expect(watch.isOther({ login: 5 })).toBe(false)
    watch.noteStored({ login: 5 })
    watch.noteStored({})
    expect([6, 5, 4, undefined].map((login) => watch.isOther(of(login === undefined ? {} : { login })))).toEqual([
      ...[true, false, true, false],
    ])
  })

  it('then before the record has returned the number of the own login, only the user decides', async () => {
    const { watch } = start()
    watch.noteStored({ login: 5 })
    await logIn(watch, 'alice')
    expect([
      watch.isOther({ login: 4, subject: 'bob' }),
      watch.isOther({ login: 4 }),
      watch.isOther({ login: 9, subject: 'alice' }),
      // Private tokens have no number.
      watch.isOther({ subject: 'bob' }),
    ]).toEqual([true, true, false, false])
    watch.noteStored({})
    expect(watch.isOther({ login: 4 })).toBe(true)
    watch.noteStored({ login: 6 }, false)
    expect([watch.number, watch.last, watch.isOther({ login: 6 })]).toEqual([undefined, 6, true])
    watch.noteStored({ login: 7 })
    expect([watch.number, watch.last, watch.isOther({ login: 7 })]).toEqual([7, 7, false])
  })
})

describe('given a login that ends', () => {
  it('then requests before and after it have different login generations, and its last eight access tokens are known', () => {
    const { watch } = start()
    const held = Array.from({ length: 9 }, (_, n) => `access-${n}`)
    for (const token of held) watch.held(token)
    const past = () => held.map((token) => watch.isOfEndedLogin(token))
    expect([watch.generations.first, past()]).toEqual([0, Array(9).fill(false)])
    watch.end()
    expect([watch.generations.first, past()]).toEqual([1, [false, ...Array<boolean>(8).fill(true)]])
    watch.held('access-8')
    expect(past()).toEqual([false, ...Array<boolean>(7).fill(true), false])
    watch.end()
    expect([watch.generations.first, watch.isOfEndedLogin('access-8'), watch.isOfEndedLogin('none')]).toEqual([
      2,
      true,
      false,
    ])
  })

  it('then the last eight tokens of eight logins are known', () => {
    const { watch } = start()
    for (let login = 0; login < 9; login += 1) {
      for (let n = 0; n < 8; n += 1) watch.held(`access-${login}-${n}`)
      watch.end()
    }
    expect(['0-7', '1-0', '8-7'].map((name) => watch.isOfEndedLogin(`access-${name}`))).toEqual([false, true, true])
  })

  it('then the first report about where it ended counts, until the next login; without one it ended here', async () => {
    const { watch } = start()
    const lost = (one: LoginWatch, by: 'here' | 'elsewhere', reason: LoginReason = 'refused') => {
      one.lost(loginRequired(reason), by)
      return one.loss
    }
    expect(lost(watch, 'here')).toMatchObject({ reason: 'refused', by: 'here' })
    expect(lost(watch, 'elsewhere', 'lost')).toMatchObject({ reason: 'lost', by: 'here' })
    await logIn(watch, 'alice')
    expect(watch.loss).toBeUndefined()
    expect(lost(watch, 'elsewhere')).toMatchObject({ by: 'elsewhere' })
    watch.seen({ login: 1 }, true)
    expect(lost(watch, 'here')).toMatchObject({ by: 'here' })
    watch.required('refused', 'here')
    expect(watch.loss).toBeUndefined()
    expect(lost(start({ isAlone: true }).watch, 'elsewhere')).toMatchObject({ by: 'here' })
  })
})

describe('given a login that was reported to the listeners, when the status is read', () => {
  const PRESENT = { login: 'present' } as const
  const required = (loginReason: string) => ({ login: 'required', loginReason })
  type Held = Parameters<LoginWatch['statusWith']>[0]
  const held = (validToken: string | undefined, refreshToken: string | undefined, isRejected = false) =>
    ({ validToken, stored: { refreshToken }, isRejected }) as unknown as Held

  it.each<[string, LoginReason | undefined, Held, object]>([
    ['it can be refreshed', undefined, held(undefined, 'r'), PRESENT],
    ['its access token is valid', undefined, held('a', undefined), PRESENT],
    ['its access token is valid, although it has ended elsewhere', 'refused', held('a', 'r'), PRESENT],
    ['no token is held', undefined, undefined, PRESENT],
    ['a renewal found that it has ended', 'in-doubt', held(undefined, 'r'), required('in-doubt')],
    ['a renewal found that it has ended, and no token is held', 'refused', undefined, required('refused')],
    ['nothing can renew its token', undefined, held(undefined, undefined), required('expired')],
    ['the API rejected its last token', undefined, held(undefined, undefined, true), required('refused')],
  ])('when %s, then the status shows it (F205)', async (_, lost, token, expected) => {
    const { watch } = start()
    await logIn(watch, 'alice')
    if (lost) watch.lost(loginRequired(lost), 'here')
    expect(watch.statusWith(token)).toEqual(expected)
  })

  it('when a login is required, or nothing is known, then that stays', () => {
    const { watch } = start()
    watch.lost(loginRequired('refused'), 'here')
    expect(watch.statusWith()).toEqual({})
    watch.required('logged-out', 'here')
    expect(watch.statusWith(held(undefined, undefined))).toEqual(required('logged-out'))
  })
})

describe('given expired tokens of the record', () => {
  it('when they can be refreshed, then they are the login of a manager that had none', () => {
    const { watch, told } = start()
    watch.skipped(of({ login: 1 }))
    expect(watch.statusWith()).toEqual({})
    watch.skipped(of({ login: 1, refreshToken: 'r' }))
    expect([watch.statusWith(), told]).toEqual([
      { login: 'present' },
      [{ login: 'present', by: 'store', account: 'unknown' }],
    ])
  })

  it('when the manager knows better, then they change nothing', () => {
    const { watch, told } = start()
    watch.noteStored(of({ login: 1 }))
    watch.required('logged-out', 'here')
    watch.skipped(of({ login: 1, refreshToken: 'r' }))
    expect([watch.statusWith().login, told.length]).toEqual(['required', 1])
  })
  it('when they belong to another login than the one that has ended here, then that login is reported (F362)', () => {
    const { watch, told } = start()
    watch.noteStored(of({ login: 1 }))
    watch.required('logged-out', 'here')
    watch.skipped(of({ login: 2, refreshToken: 'r' }))
    expect([watch.statusWith().login, told.length]).toEqual(['present', 2])
  })
})
