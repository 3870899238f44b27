import { describe, expect, it } from '@jest/globals'
import type { Events } from '../../src/core/events.ts'
import type { Identity } from '../../src/core/stored-tokens.ts'
import { ARRIVALS, compare, continues, isOther, type Sameness } from '../../src/record/identity.ts'
import { LoginWatch } from '../../src/login/login-watch.ts'
import { adopt, clear } from '../../src/record/acts.ts'
import type { RecordState } from '../../src/record/record-shape.ts'
import { acquireForLogout, check } from '../../src/record/record-state.ts'
import { settle } from '../support/watched-clock.ts'

type Arrival = keyof typeof ARRIVALS

const ALL = ['loginId', 'login', 'name', 'subject'] as const
const USERS = [undefined, 'alice', 'bob']
/** All that can be known of a login. */
const IDENTITIES: Identity[] = [undefined, 'a', 'b'].flatMap((loginId) =>
  [undefined, 1, 2].flatMap((login) =>
    USERS.flatMap((name) => USERS.map((subject) => ({ loginId, login, name, subject }))),
  ),
)
/** A record that has a login always has its number. */
const STORED = IDENTITIES.filter(({ login, name }) => login !== undefined && name === undefined)

describe('given two logins and what is known of them', () => {
  it.each<[string, Identity, Identity, Sameness]>([
    ['nothing', {}, {}, 'unknown'],
    ['the facts of one', { loginId: 'a', login: 1, name: 'alice', subject: 'f' }, {}, 'unknown'],
    ['facts of two kinds', { name: 'alice' }, { subject: 'f' }, 'unknown'],
    ['one id', { loginId: 'a', login: 1 }, { loginId: 'a', login: 2 }, 'same'],
    ['two ids alone', { loginId: 'a' }, { loginId: 'b' }, 'unknown'],
    ['two ids of one number', { loginId: 'a', login: 1 }, { loginId: 'b', login: 1 }, 'same'],
    ['two numbers of one user', { login: 1, subject: 'f' }, { login: 2, subject: 'f' }, 'other'],
    ['one name with two fingerprints', { name: 'alice', subject: 'f' }, { name: 'alice', subject: 'g' }, 'same'],
    ['two names', { name: 'alice' }, { name: 'bob' }, 'other'],
    ['one fingerprint', { name: 'alice', subject: 'f' }, { subject: 'f' }, 'same'],
    ['two fingerprints', { subject: 'f' }, { subject: 'g' }, 'other'],
  ])('when it is %s, then the first fact that both have decides, in both directions', (_, one, other, sameness) => {
    expect([compare(one, other, ALL), compare(other, one, ALL)]).toEqual([sameness, sameness])
  })

  it('when a login arrives, then the facts that count and what an unknown one is depend on how it arrived', () => {
    expect(ARRIVALS).toEqual({
      adopted: { by: ['name'], unknown: false },
      stored: { by: ['subject'], unknown: false },
      obtained: { by: ['subject'], unknown: true },
      obtainedAfterEnd: { by: ['subject'], unknown: false },
      found: { by: ['loginId', 'login'], unknown: true },
      foundUnreported: { by: ['loginId', 'subject'], unknown: false },
      replaced: { by: ['name', 'subject'], unknown: true },
    })
  })

  it.each(Object.keys(ARRIVALS) as Arrival[])(
    'when any one of them arrives as %s, then the same one continues and another one never does, whoever asks',
    (arrival) => {
      const { by, unknown } = ARRIVALS[arrival]
      for (const one of IDENTITIES)
        for (const other of IDENTITIES) {
          const found = compare(one, other, by)
          expect(continues(one, arrival, other)).toBe(found === 'unknown' ? unknown : found === 'same')
          expect(continues(other, arrival, one)).toBe(continues(one, arrival, other))
        }
    },
  )
})

describe('given what a manager knows of its login, and the login in the record', () => {
  const events = { emit: () => undefined } as unknown as Events

  /** A manager that knows this much, if a manager can. */
  async function managerWith({ loginId, login, subject }: Identity): Promise<LoginWatch | undefined> {
    const watch = new LoginWatch(events, false, false)
    const isUnreported = loginId !== undefined && login === undefined
    if (isUnreported) watch.began(subject, loginId, Promise.resolve(subject))
    else if (login !== undefined) watch.seen({ loginId, login, subject }, false)
    await settle()
    return isUnreported || login !== undefined || subject === undefined ? watch : undefined
  }

  function recordOf({ loginId, login = 0, subject }: Identity): RecordState {
    const reading = { now: 1_000 }
    const tokens = { accessToken: 'access', accessLifetimeMs: 60_000, accessRemainingMs: 60_000, refreshToken: 'r' }
    const act = { owner: 'one', n: 1, at: 0, ms: 0, now: 0, seenVersion: 0 }
    const { state } = adopt(undefined, 0, tokens, reading, act)
    return { ...state!, loginId, login, subject }
  }

  it('when the two are compared anywhere, then all agree: 0 contradictions in all pairs', async () => {
    const contradictions: unknown[] = []
    let pairs = 0
    for (const one of IDENTITIES.filter(({ name }) => name === undefined)) {
      const watch = await managerWith(one)
      if (!watch) continue
      for (const stored of STORED) {
        pairs += 1
        const state = recordOf(stored)
        // It has seen every version: only the login decides.
        const seen = { ...watch.known, seenVersion: state.version }
        const request = { ...seen, owner: 'me', ttlMs: 1_000, others: undefined }
        const [tokens, reading] = [stored, { now: 1_000 }]
        const answers = [
          isOther(watch.known, stored),
          watch.isOther(tokens),
          check(state, seen, reading).result?.kind === 'newer',
          clear(state, seen, reading).state === undefined,
          acquireForLogout(state, request, reading).result.kind === 'newer',
        ]
        if (new Set(answers).size > 1) contradictions.push({ one, stored, answers })
      }
    }
    expect(contradictions).toEqual([])
    expect(pairs).toBeGreaterThan(300)
  })
})
