import { afterEach, describe, expect, it } from '@jest/globals'
import { adopt, clear } from '../../src/record/acts.ts'
import type { RecordState } from '../../src/record/record-shape.ts'
import { accept, acquire, check } from '../../src/record/record-state.ts'
import { LOGIN_RULES } from '../../src/login/login-rules.ts'
import { actAt } from '../support/with-acts.ts'
import type { Lease } from '../../src/core/lease.ts'
import { bare } from '../../src/core/whole.ts'
import { storedIn, textOf } from '../../src/store/record-text.ts'
import { KeyRing } from '../../src/store/sealed-box.ts'

const now = Date.UTC(2026, 0, 1)
const TOKENS = { accessToken: 'access', accessLifetimeMs: 60_000, accessRemainingMs: 60_000, refreshToken: 'refresh' }
const REQUEST = bare({
  owner: 'a',
  seenVersion: 0,
  ttlMs: 15_000,
  inDoubt: LOGIN_RULES.inDoubt,
  maxStalenessMs: 30_000,
  credentialsDigest: '0000',
})
const ACT = actAt(now, now)
/** As the store passes it on. */
const at = (ms: number) => bare({ now: now + ms })
const EVIL: Record<string, unknown> = {
  tokens: {
    ...TOKENS,
    accessToken: 'evil',
    at: now,
    accessMs: 60_000,
    fence: 9e15,
    retired: false,
    presentations: 0,
    overlapped: false,
  },
  lease: { at: now, ms: 9e9, owner: 'evil', fence: 9e15, settled: false },
  coolDown: { at: now, ms: null, failures: 1, isFirm: true, code: 'ERR_LOGIN_REQUIRED' },
  ...{
    loginId: 'evil',
    subject: 'evil',
    act: { owner: 'evil', n: 9, at: now, ms: 0, version: 9e15 },
    ended: ['this'],
    began: 'f',
    spent: ['f'],
    past: ['f'],
  },
  ...{ doubtAt: 0, lossAt: now, unclear: { at: 0, says: 'evil', times: 9 }, refreshMs: -1, fingerprint: 'f' },
  ...{ epoch: 'evil', context: 'evil', credentials: 'evil', by: 'ffff', loginReason: 'lost' },
}

/** The result of each rule for a record, and without one. */
async function course() {
  const keyRing = new KeyRing(undefined)
  const first = acquire(undefined, bare({ ...REQUEST, inDoubt: undefined }), at(0))
  const granted = first.result as Lease
  const stored = accept(first.state, granted, TOKENS, at(0)).state!
  const { state } = await storedIn(await textOf(stored, 'key', keyRing), 'key', keyRing)
  const results = [undefined, state].flatMap((one: RecordState | undefined) => [
    acquire(one, bare({ ...REQUEST, seenVersion: 9 }), at(1)),
    acquire(one, REQUEST, at(1)),
    check(one, bare({ seenVersion: 0 }), at(1)),
    clear(one, bare({ seenVersion: 0 }), at(1)),
    adopt(one, 0, { ...TOKENS, loginId: 'this' }, at(1), ACT),
  ])
  return JSON.stringify([first, stored, state, results])
}

describe('given names on Object.prototype that the rules of a record read (F365)', () => {
  const planted = new Set<string>()
  afterEach(() => {
    for (const name of planted) Reflect.deleteProperty(Object.prototype, name)
    planted.clear()
  })

  it.each(Object.keys(EVIL))('when %s is there, then no rule reads it', async (name) => {
    const clean = await course()
    planted.add(name)
    Object.defineProperty(Object.prototype, name, { value: EVIL[name], configurable: true, writable: true })
    expect((await course()) === clean).toBe(true)
  })
})
