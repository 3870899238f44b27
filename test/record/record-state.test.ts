import { describe, expect, it } from '@jest/globals'
import { CREDENTIAL_RULES } from '../../src/core/credential-rules.ts'
import type { Rules } from '../../src/core/situation.ts'
import { LOGIN_RULES } from '../../src/login/login-rules.ts'
import { adopt, clear } from '../../src/record/acts.ts'
import type { Change, RecordState } from '../../src/record/record-shape.ts'
import { accept, acquire, overlap, release } from '../../src/record/record-state.ts'
import { keptMs } from '../../src/record/record-views.ts'
import { adoptAgain, clearAgain } from '../../src/record/repeated-acts.ts'
import type { LeaseResult, CoolDown, Lease, Others, Report } from '../../src/core/lease.ts'
import type { NewTokens } from '../../src/core/stored-tokens.ts'

import { actAt } from '../support/with-acts.ts'

const NOW = Date.UTC(2026, 0, 1)
const TTL_MS = 15_000
const HOUR = 3_600_000
const REST: CoolDown = { kind: 'cool-down', ms: 20_000, failures: 3, isFirm: true, code: 'ERR_THROTTLED', status: 429 }

const tokensOf = (n: number): NewTokens => ({
  accessToken: `access-${n}`,
  accessLifetimeMs: 60_000,
  accessRemainingMs: 60_000,
  refreshToken: `refresh-${n}`,
  refreshRemainingMs: HOUR,
})

/** A register whose state a test can read. Each step replaces the state at once. */
class World {
  now = NOW
  epoch: string | undefined
  state: RecordState | undefined

  acquire(owner = 'a', seenVersion = 0): LeaseResult {
    return this.#after(acquire(this.state, { owner, seenVersion, ttlMs: TTL_MS }, this))
  }

  granted(owner = 'a', seenVersion = this.state?.version ?? 0): Lease {
    const answer = this.acquire(owner, seenVersion)
    if (answer.kind !== 'granted') throw new Error(`The claim was answered ${answer.kind}`)
    return answer
  }

  accept(granted: Lease, n: number) {
    return this.#after(accept(this.state, granted, tokensOf(n), this))
  }

  release(granted: Lease, told: Report) {
    return this.#after(release(this.state, granted, told, this))
  }

  overlap(): void {
    this.#after(overlap(this.state, this))
  }

  clear(seenVersion = 0): void {
    this.#after(clear(this.state, { seenVersion }, this))
  }

  /** A world with token set 1, which `a` obtained 10 s ago. */
  static withPair(): World {
    const world = new World()
    world.accept(world.granted(), 1)
    world.now += 10_000
    return world
  }

  #after<Answer>({ state, result: answer }: Change<Answer>): Answer {
    // A register stores the state as JSON.
    if (state) this.state = JSON.parse(JSON.stringify(state)) as RecordState
    return answer
  }
}

describe('given a record in a register that may have lost writes (R1)', () => {
  it.each<[string, string | undefined, string | undefined, boolean]>([
    ['in the same epoch', 'one', 'one', true],
    ['in another epoch', 'one', 'two', false],
    ['in an epoch, written in an unknown one', undefined, 'two', true],
    ['in an unknown epoch, written in a known one', 'one', undefined, true],
  ])('when it is read %s, then its refresh token is presentable or in doubt', (_, written, read, presentable) => {
    const world = new World()
    world.epoch = written
    world.accept(world.granted(), 1)
    world.epoch = read
    expect(world.granted().presentable).toBe(presentable)
  })

  it('when it is read in another epoch, then its access token is still used, and the doubt stays', () => {
    const world = World.withPair()
    world.state = { ...world.state!, epoch: 'one' }
    world.epoch = 'two'
    expect(world.acquire('b')).toMatchObject({ kind: 'newer', tokens: { accessToken: 'access-1' } })
    world.release(world.granted('b'), { fate: 'keep' })
    expect(world.granted('b').presentable).toBe(false)
  })

  it.each<[string, string | undefined, string | undefined, boolean]>([
    ['in the same epoch', 'one', 'one', true],
    ['in another epoch', 'one', 'two', false],
    ['when the epoch was unknown', undefined, 'two', true],
    ['when it is unknown now', 'one', undefined, true],
  ])(
    'when a token set arrives whose lease was granted %s, then it is used, and is presentable: %s, %s, %s',
    (_, ...row) => {
      const [claimed, stored, presentable] = row
      const world = new World()
      world.epoch = claimed
      const granted = world.granted()
      // The register was emptied.
      world.state = undefined
      world.epoch = stored
      expect(world.accept(granted, 1)).toMatchObject({ accessRemainingMs: 60_000 })
      expect(world.granted()).toMatchObject({ presentable, isDoubted: !presentable })
    },
  )

  it('when a new token set arrives in the new epoch, then it is presentable', () => {
    const world = World.withPair()
    world.state = { ...world.state!, epoch: 'one' }
    world.epoch = 'two'
    world.accept(world.granted(), 2)
    expect(world.granted()).toMatchObject({ presentable: true, tokens: { refreshToken: 'refresh-2' } })
  })
})

describe('given a clock of the store that is set back by an hour (R2, F178)', () => {
  it('then no access token counts as valid, and its refresh token for no longer than its lifetime', () => {
    const world = World.withPair()
    world.now -= HOUR
    expect(world.acquire('b')).toMatchObject({ tokens: { accessRemainingMs: 0, refreshRemainingMs: HOUR } })
  })

  it('then a lease blocks no owner, and leaves its refresh token in doubt', () => {
    const world = World.withPair()
    world.granted()
    world.now -= HOUR
    expect(world.acquire('b', 1)).toMatchObject({ kind: 'granted', presentable: false })
  })

  it('then a cool-down is over', () => {
    const world = World.withPair()
    world.release(world.granted(), { fate: 'keep', shared: REST })
    world.now -= HOUR
    expect(world.acquire('b', 1)).toMatchObject({ kind: 'granted' })
  })

  it.each([
    [1_000, { kind: 'busy', remainingMs: TTL_MS }],
    [1_001, { kind: 'granted' }],
  ])(
    'when it is set back by %d ms only, then a lease granted just before lasts at most its usual time',
    (ms, answer) => {
      const world = World.withPair()
      world.granted()
      world.now -= ms
      expect(world.acquire('b', 1)).toMatchObject(answer)
    },
  )

  it('then fences continue', () => {
    const world = World.withPair()
    const { fence } = world.granted()
    world.now -= HOUR
    expect(world.granted().fence).toBe(fence + 1)
  })
})

describe('given two leases, the first of which expired (R3)', () => {
  const two = () => {
    const world = World.withPair()
    const first = world.granted('a')
    world.now += TTL_MS
    return { world, first, second: world.granted('b') }
  }

  it('when the later one is released first, then the token set of the earlier one is dropped, and its owner gets the stored one', () => {
    const { world, first, second } = two()
    world.accept(second, 3)
    expect(world.accept(first, 2)).toMatchObject({ accessToken: 'access-3', version: 2 })
    expect(world.state!.tokens).toMatchObject({ accessToken: 'access-3' })
  })

  it('when the earlier one is released first, then the later token set replaces it', () => {
    const { world, first, second } = two()
    expect(world.accept(first, 2)).toMatchObject({ accessToken: 'access-2', version: 2 })
    expect(world.accept(second, 3)).toMatchObject({ accessToken: 'access-3', version: 3 })
  })

  it('when the record was lost in between, then an earlier lease does not replace newer tokens', () => {
    const { world, first } = two()
    world.state = undefined
    world.now += 1
    world.accept(world.granted('c', 0), 4)
    expect(world.accept(first, 2)).toMatchObject({ accessToken: 'access-4' })
  })

  it('when the record was lost and nothing was stored since, then its token set is stored, newer than any that its owner has seen', () => {
    const { world, second } = two()
    world.state = undefined
    expect(world.accept(second, 3)).toMatchObject({ version: 2 })
    expect(world.granted('c', 2).fence).toBeGreaterThan(second.fence)
  })

  it.each([0, 1])('when the record is cleared, also %d ms later, then earlier leases are dropped', (ms) => {
    const { world, second } = two()
    world.now += ms
    world.clear()
    expect(world.accept(second, 3)).toBeUndefined()
    expect(world.state!.tokens).toBeUndefined()
    world.accept(world.granted('c'), 5)
    expect(world.accept(second, 3)).toMatchObject({ accessToken: 'access-5' })
  })

  it('when the record is cleared within the millisecond of a lease, then the owner of that lease is notified', () => {
    const { world, second } = two()
    world.clear()
    expect(world.release(second, { fate: 'keep' }).contested).toBe(true)
  })

  it('when a lost record is cleared, then earlier leases are dropped', () => {
    const { world, second } = two()
    world.state = undefined
    world.clear(1)
    expect(world.accept(second, 3)).toBeUndefined()
    expect(world.state!.version).toBe(2)
  })
})

describe('given a login that is stored after the record was lost', () => {
  it('when an owner acquires that has seen a higher version, then it receives these tokens', () => {
    const world = World.withPair()
    for (const n of [2, 3, 4]) world.accept(world.granted(), n)
    const seenVersion = world.state!.version
    world.state = adopt(undefined, 0, tokensOf(9), world, actAt(NOW, NOW)).state
    expect(world.acquire('a', seenVersion)).toMatchObject({ kind: 'newer', tokens: { accessToken: 'access-9' } })
  })

  it('then its version is above the clock of the register, in seconds', () => {
    expect(adopt(undefined, 0, tokensOf(9), new World(), actAt(NOW, NOW)).result.version).toBe(NOW / 1_000 + 1)
  })
})

describe('given a login whose step had no response, and is about to be repeated', () => {
  const loginAt = NOW - 5_000
  const login = (loginId: string, now: number, before?: RecordState) =>
    adopt(before, 0, { ...tokensOf(1), loginId }, { now }, actAt(now, now)).state
  const logout = (before: RecordState | undefined, now: number) => clear(before, { seenVersion: 0 }, { now }).state
  const isStored = (stored?: RecordState, seenVersion = 0) => {
    const tokens = { ...tokensOf(2), loginId: 'this' }
    return adoptAgain(stored, seenVersion, tokens, { now: NOW }, actAt(loginAt, NOW, seenVersion)).state !== undefined
  }
  const this_ = login('this', loginAt)
  const replaced = login('other', loginAt, this_)

  it.each<[string, boolean, RecordState | undefined]>([
    ['the record was lost', true, undefined],
    ['the record has an earlier login', true, login('other', loginAt - 1)],
    ['the record has a later login', false, login('other', loginAt + 1)],
    ['the record has another login of the same instant', true, login('other', loginAt)],
    ['a user has logged out of a later login', false, logout(login('other', loginAt + 1), NOW)],
    ['a user has logged out of an earlier login since', true, logout(login('other', loginAt - 1), NOW)],
    ['a user has logged out without a login', true, logout(undefined, NOW)],
    ['a user has logged out of this login', false, logout(this_, NOW)],
    ['this login was replaced', false, replaced],
    ['the record names a login of the future, because its clock was set back', true, login('other', NOW + 1_001)],
    ['the record is old, and has no instant of a login', true, { ...logout(undefined, NOW)!, ended: undefined }],
  ])('when %s, then it is stored: %s (F360, F361)', (_, stores, stored) => {
    expect(isStored(stored)).toBe(stores)
  })

  it('when eight logins have ended since, then the record still knows that this one has ended; after nine it does not', () => {
    const after = (times: number) =>
      Array.from({ length: times }).reduce<RecordState | undefined>(
        (state, _, n) => login(`other ${n}`, loginAt - 20 + n, state),
        login('this', loginAt - 30),
      )
    expect([8, 9].map((times) => isStored(after(times)))).toEqual([false, true])
  })

  it('when the record has it, and this owner has renewed it privately, then the new token set is stored, and the login has not ended', () => {
    const { state } = adoptAgain(this_, 0, { ...tokensOf(2), loginId: 'this' }, { now: NOW }, actAt(loginAt, NOW))
    expect(state).toMatchObject({
      loginId: 'this',
      act: { at: loginAt },
      ended: [],
      tokens: { accessToken: 'access-2' },
    })
  })

  it('when the owner had seen everything in the record, then it is stored, whatever the clock of the register shows', () => {
    const later = login('other', NOW)!
    expect(isStored(later, later.version)).toBe(true)
    expect(isStored(later, later.version - 1)).toBe(false)
  })
})

describe('given a logout whose step had no response, and is repeated', () => {
  const tokens = { ...tokensOf(1), loginId: 'other' }
  /** Another owner reports its login, which began at `at`, after this owner has reported the logout of a login or logout at NOW - 5 000. */
  const isStoredAfter = (isLogin: boolean, at: number) => {
    const act = actAt(NOW - 5_000, NOW)
    const { state } = clearAgain(undefined, { seenVersion: 0, loginId: 'this' }, { now: NOW }, act, isLogin)
    return adoptAgain(state, 0, tokens, { now: NOW }, actAt(at, NOW)).state !== undefined
  }

  it.each([
    ['its manager does not know the number of its login', undefined],
    ['its manager knows the number of its login', 7],
  ])('when %s, and the record has an earlier login of another manager, then that login stays (F361)', (_, login) => {
    const stored = adopt(undefined, 0, tokens, { now: NOW - 9_000 }, actAt(NOW - 9_000, NOW - 9_000)).state
    const seen = { seenVersion: 0, login, loginId: 'this' }
    const { state, result: answer } = clearAgain(stored, seen, { now: NOW }, actAt(NOW - 5_000, NOW), false)
    expect([state, answer?.loginId]).toEqual([undefined, 'other'])
  })

  it.each([
    ['the record never had the login that ended, and the other login began earlier', false, true, NOW - 5_001],
    ['the record never had the login that ended, and the other login began later', true, true, NOW - 4_998],
    ['the record had the login that ended, and the other login began before the logout', true, false, NOW - 5_001],
  ])('when %s, then the other login is stored: %s (F360, F361)', (_, stores, isLogin, at) => {
    expect(isStoredAfter(isLogin, at)).toBe(stores)
  })
})

describe('given an exchange during which another may have been in flight (R4)', () => {
  it('when an earlier lease has expired, then the token set is marked', () => {
    const world = World.withPair()
    world.granted('a')
    world.now += TTL_MS
    world.accept(world.granted('b'), 2)
    expect(world.granted('c').overlapped).toBe(true)
  })

  it('when that owner arrives late, then its token set is marked, and so is the one that replaces it', () => {
    const world = World.withPair()
    const first = world.granted('a')
    world.now += TTL_MS
    const second = world.granted('b')
    world.accept(first, 2)
    expect(world.state!.tokens!.overlapped).toBe(true)
    world.accept(second, 3)
    expect(world.state!.tokens!.overlapped).toBe(true)
  })

  it('when the other lease was granted before the record was lost, then the token set is marked as soon as its owner arrives', () => {
    const world = World.withPair()
    const first = world.granted('a')
    world.state = undefined
    world.now += 1
    world.accept(world.granted('b', 0), 3)
    expect(world.state!.tokens!.overlapped).toBe(false)
    expect(world.accept(first, 2)).toMatchObject({ accessToken: 'access-3' })
    expect(world.state!.tokens).toMatchObject({ accessToken: 'access-3', overlapped: true })
    expect(world.granted('c', 1).overlapped).toBe(true)
  })

  it('when an earlier lease ends during a later one, then the token set of the later one is marked, once', () => {
    const world = World.withPair()
    const first = world.granted('a')
    world.now += TTL_MS
    world.accept(world.granted('b'), 2)
    const later = world.granted('b')
    world.accept(first, 9)
    const marked = world.state
    expect(marked).toMatchObject({ overlaps: true, lease: { fence: later.fence } })
    world.accept(first, 9)
    expect(world.state).toBe(marked)
    world.accept(later, 3)
    expect(world.granted('c').overlapped).toBe(true)
  })

  it('when an earlier lease ends, and no other is in flight, then the stored token set is marked, but not the next one', () => {
    const world = World.withPair()
    const first = world.granted('a')
    world.now += TTL_MS
    world.accept(world.granted('b'), 2)
    world.accept(world.granted('b'), 3)
    world.accept(first, 9)
    expect(world.state).toMatchObject({ overlaps: false, tokens: { accessToken: 'access-3', overlapped: true } })
  })

  it('when a later fence is lower, because the record was lost and its clock set back, then its owner still releases its lease', () => {
    const world = World.withPair()
    const first = world.granted('a')
    world.state = undefined
    world.now -= HOUR
    const second = world.granted('b', 0)
    world.accept(first, 2)
    world.accept(second, 3)
    expect(world.state).toMatchObject({ tokens: { accessToken: 'access-2', overlapped: true } })
    expect(world.state!.lease).toBeUndefined()
  })

  it('when a lease is released a second time, and another one is in flight, then nothing is marked', () => {
    const world = World.withPair()
    const first = world.granted('a')
    world.accept(first, 2)
    world.granted('b')
    const before = world.state
    world.accept(first, 2)
    expect(world.state).toBe(before)
  })

  it.each([
    [' was in flight', true, (): void => undefined],
    [' had ended', false, (world: World, lease: Lease) => void world.release(lease, { fate: 'keep' })],
  ])('when the other%s as the record was cleared, then the token set is marked: %s', (_, isMarked, end) => {
    const world = World.withPair()
    end(world, world.granted('a'))
    world.clear(1)
    world.accept(world.granted('b', 2), 3)
    expect(world.granted('c', 3).overlapped).toBe(isMarked)
  })

  it('when it is made without the record, then the token set is marked, and the next one, and none after that', () => {
    const world = World.withPair()
    world.overlap()
    const marks = [2, 3, 4].map((n) => {
      const lease = world.granted('b')
      world.accept(lease, n)
      return lease.overlapped
    })
    expect(marks).toEqual([true, true, false])
  })

  it('when its owner reports it with a lease, then the stored token set is marked, and the next one', () => {
    const world = World.withPair()
    const { state, result: answer } = acquire(
      world.state,
      { owner: 'b', seenVersion: 1, ttlMs: TTL_MS, others: { overlap: true } },
      world,
    )
    world.state = state
    expect(answer).toMatchObject({ kind: 'granted', overlapped: true })
    world.accept(answer as Lease, 2)
    expect(world.granted('c').overlapped).toBe(true)
  })

  it('when it is made without the record during a lease, then the owner that releases the lease is notified', () => {
    const world = World.withPair()
    expect(world.release(world.granted('b'), { fate: 'keep' }).contested).toBe(false)
    const lease = world.granted('b')
    world.overlap()
    expect([lease.overlapped, world.release(lease, { fate: 'dead' }).contested]).toEqual([false, true])
  })

  it('when that is reported twice, then the record is written once', () => {
    const world = World.withPair()
    world.overlap()
    const marked = world.state
    world.overlap()
    expect(world.state).toBe(marked)
  })

  it('when it is made without the record, and the record is cleared then, then the next token set is marked', () => {
    const world = World.withPair()
    world.overlap()
    world.clear(1)
    world.accept(world.granted(), 2)
    expect(world.granted().overlapped).toBe(true)
  })

  it('when it is made without the record, and there is none, then the first token set is marked', () => {
    const world = new World()
    world.overlap()
    world.accept(world.granted(), 1)
    expect(world.granted().overlapped).toBe(true)
  })

  it('when no other was in flight, then the token set is not marked, even after one that was', () => {
    const world = World.withPair()
    expect(world.granted().overlapped).toBe(false)
    world.now += TTL_MS
    world.accept(world.granted('b'), 2)
    world.accept(world.granted('b'), 3)
    expect(world.granted('b').overlapped).toBe(false)
  })

  it('when the earlier lease was released, then the token set is not marked', () => {
    const world = World.withPair()
    world.release(world.granted('a'), { fate: 'keep', shared: { kind: 'retry', ms: 500 } })
    world.now += 1_500
    world.accept(world.granted('b'), 2)
    expect(world.state!.tokens!.overlapped).toBe(false)
  })
})

describe('given a lease that is released twice', () => {
  it('then a second acceptance changes nothing', () => {
    const world = World.withPair()
    const granted = world.granted()
    world.accept(granted, 2)
    const before = world.state
    world.now += 5_000
    expect(world.accept(granted, 2)).toMatchObject({ accessToken: 'access-2', accessRemainingMs: 55_000 })
    expect(world.state).toBe(before)
  })

  it('then a 5xx counts once', () => {
    const world = World.withPair()
    const granted = world.granted()
    for (const ms of [500, 500]) world.release(granted, { fate: 'counted', shared: { kind: 'retry', ms } })
    expect(world.granted().presentations).toBe(1)
  })

  it('then a release by another owner changes nothing', () => {
    const world = World.withPair()
    const first = world.granted('a')
    world.now += TTL_MS
    world.granted('b')
    const before = world.state
    expect(world.release(first, { fate: 'dead', shared: REST })).toEqual({ contested: true })
    expect(world.state).toBe(before)
  })
})

describe('given a state, and the time that it must be kept', () => {
  it('then that is the longest time of its members', () => {
    const world = World.withPair()
    expect(keptMs(world.state!, world.now)).toBe(HOUR - 10_000)
    world.release(world.granted(), { fate: 'keep', shared: { ...REST, ms: 2 * HOUR } })
    expect(keptMs(world.state!, world.now)).toBe(2 * HOUR)
    const claimed = new World()
    claimed.granted()
    expect(keptMs(claimed.state!, NOW)).toBe(TTL_MS)
  })

  it('then a refresh token of unknown expiry is kept for a year (F214), and an endless cool-down forever', () => {
    const world = World.withPair()
    const endless = { ...world.state!.tokens!, refreshMs: undefined }
    expect(keptMs({ ...world.state!, tokens: endless }, NOW)).toBe(365 * 24 * HOUR)
    world.release(world.granted(), {
      fate: 'dead',
      shared: { ...REST, ms: Infinity, code: 'ERR_SUSPICIOUS_REFRESH_TOKEN' },
      drops: true,
    })
    expect(keptMs(world.state!, world.now)).toBe(Infinity)
    expect(world.acquire('b')).toMatchObject({ kind: 'cooling', coolDown: { ms: Infinity } })
  })

  it('then a token set without a refresh token is kept as long as its access token', () => {
    const world = World.withPair()
    const alone = { ...world.state!.tokens!, refreshToken: undefined, refreshMs: undefined }
    expect(keptMs({ ...world.state!, tokens: alone }, NOW)).toBe(60_000)
  })

  it('then the cool-down until a login is not kept without tokens', () => {
    const world = new World()
    world.release(world.granted(), { fate: 'keep', shared: { ...REST, ms: Infinity, code: 'ERR_LOGIN_REQUIRED' } })
    expect(keptMs(world.state!, NOW)).toBe(0)
  })

  it('then an empty state is not kept', () => {
    const world = new World()
    world.clear()
    expect(keptMs(world.state!, NOW)).toBe(0)
  })
})

describe('given an owner that has died during its exchange (F245)', () => {
  const claimOf = (world: World, others: Others) =>
    acquire(world.state, { owner: 'b', seenVersion: 1, ttlMs: TTL_MS, others }, world).result

  it('when another owner knows that, then it is granted the lease, and the refresh token is in doubt', () => {
    const world = World.withPair()
    world.granted('a')
    expect(claimOf(world, {})).toEqual({ kind: 'busy', remainingMs: TTL_MS, by: 'a' })
    expect(claimOf(world, { dead: 'c' })).toMatchObject({ kind: 'busy', remainingMs: TTL_MS })
    expect(claimOf(world, { dead: 'a' })).toMatchObject({ kind: 'granted', isDoubted: true, presentable: false })
  })

  it('when that owner had released, and paused before its next exchange, then its pause holds', () => {
    const world = World.withPair()
    world.release(world.granted('a'), { fate: 'keep', shared: { kind: 'retry', ms: 60_000 } })
    expect(claimOf(world, { dead: 'a' })).toEqual({ kind: 'busy', remainingMs: 61_000 })
  })
})

describe('given rules that also hold during a lease', () => {
  it('when a record with a released lease is read in another epoch, then its refresh token is not presented (R1)', () => {
    const world = World.withPair()
    world.state = { ...world.state!, epoch: 'one' }
    world.epoch = 'one'
    world.release(world.granted('a'), { fate: 'keep', shared: { kind: 'retry', ms: 5_000 } })
    expect(world.state.lease).toMatchObject({ settled: true })
    world.epoch = 'two'
    expect(world.granted('a')).toMatchObject({ presentable: false, isDoubted: true })
  })

  it('when an outdated lease is released, then the later lease of another owner holds', () => {
    const world = World.withPair()
    const outdated = world.granted('a')
    world.now += TTL_MS
    world.granted('b')
    const { state } = world
    world.release(outdated, { fate: 'dead' })
    expect(world.state).toEqual(state)
    expect(world.acquire('c', 1)).toMatchObject({ kind: 'busy' })
  })

  it('when a login is in doubt, then it may be presented only as the last resort (R8)', () => {
    const world = World.withPair()
    world.granted('a')
    world.now += TTL_MS
    const ask = ({ inDoubt }: Rules) =>
      acquire(world.state, { owner: 'b', seenVersion: 1, ttlMs: TTL_MS, inDoubt }, world).result
    expect(ask(LOGIN_RULES)).toMatchObject({ presentable: true, isDoubted: true, isLastResort: true })
    expect(ask(CREDENTIAL_RULES)).toMatchObject({ presentable: false, isDoubted: true })
    expect((ask(CREDENTIAL_RULES) as Lease).isLastResort).toBeUndefined()
  })
})
