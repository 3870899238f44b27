import { uncertaintyOf } from '../../src/core/plan.ts'
import { describe, expect, it } from '@jest/globals'
import { createHash } from 'node:crypto'
import { fingerprintOf } from '../../src/core/digest.ts'
import { CREDENTIAL_RULES } from '../../src/core/credential-rules.ts'
import { LOGIN_RULES } from '../../src/login/login-rules.ts'
import { type RejectedRefreshToken, verdictOf } from '../../src/core/suspicion.ts'
import type { Lease } from '../../src/core/lease.ts'
import type { OpenableStore, TokenRecord } from '../../src/core/token-store.ts'
import { memoryStore, TokenError, type TokenManagerOptions } from '../../src/index.ts'
import { failing, manage, outcome, ScriptedSource, FATES } from '../support/managed.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

const LIVE: RejectedRefreshToken = {
  remainingMs: 60_000,
  uncertaintyMs: 2_000,
  attemptedBefore: false,
  contested: false,
  storeReachable: true,
  met5xx: false,
  isRotated: false,
}

describe('given a rejected refresh token, when the decision table is read', () => {
  it.each<[string, Partial<RejectedRefreshToken>, string | undefined]>([
    ['D2: it has expired', { remainingMs: -2_000 }, undefined],
    ['D2: expired, whatever else is known', { remainingMs: -2_000, attemptedBefore: true, contested: true }, undefined],
    ['D3: it lives', {}, 'unexplained high'],
    ['D3: just outside doubt', { remainingMs: 2_001 }, 'unexplained high'],
    ['D4: an attempt of ours had an unknown outcome', { attemptedBefore: true }, 'own-unknown-outcome low'],
    ['D4: and it may have expired', { attemptedBefore: true, remainingMs: 0 }, 'own-unknown-outcome low'],
    ['D5: another owner has a lease on it', { contested: true }, 'concurrent-use low'],
    ['D7: the store cannot be read', { storeReachable: false }, 'store-unreachable medium'],
    ['D9: it may have expired', { remainingMs: 2_000 }, 'clock-uncertain medium'],
    ['D9: it may still live', { remainingMs: -1_999 }, 'clock-uncertain medium'],
    ['D10: its expiry is not known', { remainingMs: undefined }, 'expiry-unknown medium'],
    ['F306: the credentials have changed', { isRotated: true }, 'credentials-changed medium'],
    ['F306: and its expiry is not known', { isRotated: true, remainingMs: undefined }, 'credentials-changed medium'],
    ['F306: but it had expired', { isRotated: true, remainingMs: -2_000 }, undefined],
    ['F306: but ours was lost before', { isRotated: true, attemptedBefore: true }, 'own-unknown-outcome low'],
    ['a 5xx before is reported by the lease', { met5xx: true }, 'unexplained high'],
  ])('then %s', (_, facts, expected) => {
    const suspicion = CREDENTIAL_RULES.suspicionOf({ ...LIVE, ...facts })
    expect(suspicion && `${suspicion.evidence} ${suspicion.severity}`).toBe(expected)
  })

  it.each<[string, Partial<RejectedRefreshToken>, string | undefined]>([
    ['it has expired', { remainingMs: 0, attemptedBefore: true }, undefined],
    ['it lives', { remainingMs: 2_001 }, 'revoked-or-used medium'],
    ['its expiry is not known', { remainingMs: undefined }, 'revoked-or-used medium'],
    ['it may have expired', { remainingMs: 1 }, 'clock-uncertain medium'],
    ['an attempt of ours had an unknown outcome', { attemptedBefore: true }, 'own-unknown-outcome low'],
    ['it met a 5xx', { met5xx: true }, 'own-unknown-outcome low'],
    [
      'another owner has a lease on it, and it may have expired',
      { contested: true, remainingMs: 1 },
      'concurrent-use low',
    ],
    ['the store cannot be read', { storeReachable: false }, 'store-unreachable medium'],
    ['F306: the credentials of the client have changed', { isRotated: true }, 'revoked-or-used medium'],
  ])('then for a login: %s', (_, facts, expected) => {
    const suspicion = LOGIN_RULES.suspicionOf({ ...LIVE, ...facts })
    expect(suspicion && `${suspicion.evidence} ${suspicion.severity}`).toBe(expected)
  })

  it('then its age makes the clock less certain (F14)', () => {
    expect([0, 60_000, 6 * 3_600_000].map(uncertaintyOf)).toEqual([2_000, 2_012, 6_320])
  })

  it.each([
    [60_000, true, 'token-only'],
    [undefined, true, 'token-only'],
    [0, true, 'was-expired'],
    [60_000, false, 'account-rejected'],
    [0, false, 'account-rejected'],
  ])('then %s ms of life and an obtain that succeeds (%s) give %s', (remainingMs, accepted, verdict) => {
    expect(verdictOf(remainingMs, accepted)).toBe(verdict)
  })
})

const refused =
  (status = 401) =>
  () => {
    throw new TokenError('ERR_REFRESH_REJECTED', 'refused', {
      outcome: 'rejected',
      status,
      serviceCode: '2007',
      refreshToken: FATES[status],
    })
  }
const fingerprint = (token: string) => createHash('sha256').update(token).digest('hex').slice(0, 8)

/** A manager with a token set whose access token is due. */
async function holdingPair(options: Partial<TokenManagerOptions> = {}, source = new ScriptedSource({ pairs: true })) {
  const world = manage(source, { renewal: { keepWarm: 'never' }, ...options })
  await world.tokens.getAccessToken()
  await world.clock.advance(45_000)
  return world
}

/** @returns The events, once all that follows has happened. */
async function observed<Event>(events: Event[]): Promise<Event[]> {
  for (let turn = 0; events.length === 0 && turn < 100; turn += 1) await settle()
  await settle()
  return events
}

it('given a token, when its fingerprint is computed, then it is eight hex digits of SHA-256', async () => {
  // Some of so many digests have a byte below 16, whose hex needs a leading zero.
  for (const token of Array.from({ length: 50 }, (_, n) => `refresh-${n}`))
    expect(await fingerprintOf(token)).toBe(fingerprint(token))
})

describe('given a live refresh token that is rejected', () => {
  it('when the credentials still work, then there is one unexplained event, severity high, and the obtain settles it (F56)', async () => {
    const { clock, source, tokens, observed: heard } = await holdingPair()
    const rejectedAt = clock.wallNow()
    source.script.push(refused())
    expect(await tokens.getAccessToken()).toBe('access-1') // no caller waits
    expect(await observed(heard.suspicious)).toEqual([
      {
        evidence: 'unexplained',
        severity: 'high',
        fingerprint: fingerprint('refresh-1'),
        refreshExpiresAt: rejectedAt - 45_000 + 3_600_000,
        rejectedAt,
        status: 401,
        serviceCode: '2007',
        action: 'obtain',
      },
    ])
    const settled = await observed(heard.suspicionSettled)
    expect(settled).toEqual([{ fingerprint: fingerprint('refresh-1'), verdict: 'token-only' }])
    expect(source.kinds).toBe('obtain refresh obtain')
    expect(tokens.status().counts).toMatchObject({ suspicions: 1, obtains: 2, refreshes: 1, failures: 1 })
  })

  it('when a caller waits for the outcome, then listeners are notified before the caller continues', async () => {
    const { source, tokens, observed: heard } = await holdingPair()
    source.script.push(refused())
    await tokens.renew()
    expect([heard.suspicious.length, heard.suspicionSettled.length, heard.renewed.length]).toEqual([1, 1, 2])
  })

  it('when the account is rejected too, then the verdict includes it', async () => {
    const { source, tokens, observed: heard } = await holdingPair()
    source.script.push(refused(), failing(400))
    tokens.peekAccessToken()
    expect(await observed(heard.suspicionSettled)).toMatchObject([{ verdict: 'account-rejected' }])
  })

  it('when the service is down at that time, then a later obtain settles it, once', async () => {
    const { clock, source, tokens, observed: heard } = await holdingPair({ retry: { maxAttempts: 2 } })
    source.script.push(refused(), failing(503))
    tokens.peekAccessToken()
    await observed(heard.suspicious)
    expect(heard.suspicionSettled).toEqual([])
    await clock.advance(5_000)
    await tokens.renew()
    await observed(heard.suspicionSettled)
    await tokens.renew()
    await settle()
    expect(heard.suspicionSettled).toMatchObject([{ verdict: 'token-only' }])
  })

  it('when the manager was reset in between, then nothing settles it', async () => {
    const { source, tokens, observed: heard } = await holdingPair({ retry: { maxAttempts: 1 } })
    source.script.push(refused())
    tokens.peekAccessToken()
    await observed(heard.suspicious)
    await tokens.reset()
    await tokens.getAccessToken()
    await settle()
    expect(heard.suspicionSettled).toEqual([])
  })

  it('when it is rejected with 400, then it is retired without suspicion', async () => {
    const { source, tokens, observed: heard } = await holdingPair()
    source.script.push(refused(400))
    tokens.peekAccessToken()
    await settle()
    expect([source.kinds, heard.suspicious]).toEqual(['obtain refresh obtain', []])
  })

  it('when a 5xx came before, then the alarm is low: our own call may have spent it', async () => {
    const { clock, source, tokens, observed: heard } = await holdingPair()
    source.script.push(failing(503), refused())
    tokens.peekAccessToken()
    await clock.advance(250)
    expect(await observed(heard.suspicious)).toMatchObject([{ evidence: 'own-unknown-outcome', severity: 'low' }])
    expect(source.kinds).toBe('obtain refresh refresh obtain')
  })

  it('when its expiry is not known, then the alarm is medium (F70)', async () => {
    const source = new ScriptedSource({ pairs: true })
    source.script.push(() => ({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' }), refused())
    const { tokens, observed: heard } = await holdingPair({}, source)
    tokens.peekAccessToken()
    const [event] = await observed(heard.suspicious)
    expect(event).toMatchObject({ evidence: 'expiry-unknown', severity: 'medium', fingerprint: fingerprint('r') })
    expect(event).not.toHaveProperty('refreshExpiresAt')
  })

  it.each([
    [1_000, 'clock-uncertain', 'was-expired'],
    [-1_000, 'clock-uncertain', 'token-only'],
  ])(
    'when it expired %i ms before the rejection, then it is %s, and settled as %s',
    async (agoMs, evidence, verdict) => {
      const source = new ScriptedSource({ pairs: true })
      const endsAfterMs = 45_000 + 1_500 - agoMs
      source.script.push(() => source.grant({ refreshLifetimeMs: endsAfterMs }))
      const { clock, tokens, observed: heard } = await holdingPair({}, source)
      source.takesMs = 1_500
      source.script.push(refused())
      tokens.peekAccessToken()
      await clock.advance(3_000)
      expect(await observed(heard.suspicious)).toMatchObject([{ evidence }])
      expect(await observed(heard.suspicionSettled)).toMatchObject([{ verdict }])
    },
  )

  it.each([
    [16_400, 'clock-uncertain'],
    [16_401, 'unexplained'],
  ])(
    'when it is 20 hours old and has %i ms to live, then it is %s: the clocks drifted all that time',
    async (leftMs, evidence) => {
      const source = new ScriptedSource({ pairs: true, lifetimeMs: 86_400_000 })
      const ageMs = 72_000_000
      source.script.push(() => source.grant({ refreshLifetimeMs: ageMs + leftMs }))
      const { clock, tokens, observed: heard } = manage(source)
      await tokens.getAccessToken()
      await clock.advance(ageMs)
      source.script.push(refused())
      await tokens.renew()
      expect(heard.suspicious).toMatchObject([{ evidence }])
    },
  )

  it('when it expired long before the rejection, then that is the normal end of its life', async () => {
    const source = new ScriptedSource({ pairs: true })
    source.script.push(() => source.grant({ refreshLifetimeMs: 46_000 }))
    const { clock, tokens, observed: heard } = await holdingPair({}, source)
    source.takesMs = 5_000
    source.script.push(refused())
    tokens.peekAccessToken()
    await clock.advance(10_000)
    expect([source.kinds, heard.suspicious, tokens.status().counts.suspicions]).toEqual([
      'obtain refresh obtain',
      [],
      0,
    ])
  })

  it('when a custom source gives no status, then the event has none', async () => {
    const { source, tokens, observed: heard } = await holdingPair()
    source.script.push(() => {
      throw new TokenError('ERR_REFRESH_REJECTED', 'refused')
    })
    tokens.peekAccessToken()
    const [event] = await observed(heard.suspicious)
    expect(event).toMatchObject({ evidence: 'unexplained' })
    expect(event).not.toHaveProperty('status')
  })
})

describe('given onSuspicious: stop', () => {
  it('when a refresh token is rejected, then everything stops until reset, including the valid token', async () => {
    const { clock, source, tokens, observed: heard } = await holdingPair({ onSuspicious: 'stop' })
    source.script.push(refused())
    tokens.peekAccessToken()
    await settle()
    expect(await observed(heard.suspicious)).toMatchObject([{ action: 'stop' }])
    expect(tokens.peekAccessToken()).toBeUndefined()
    for (const ask of [tokens.getAccessToken(), tokens.replaceAccessToken('access-1'), tokens.renew()]) {
      const error = await outcome<unknown>(ask)
      expect(error).toMatchObject({ code: 'ERR_SUSPICIOUS_REFRESH_TOKEN', retryable: false })
      expect(error).not.toHaveProperty('retryAt')
    }
    await clock.advance(24 * 3_600_000)
    expect(tokens.status()).toMatchObject({ phase: 'stopped', lastError: 'ERR_SUSPICIOUS_REFRESH_TOKEN' })
    expect(tokens.status()).not.toHaveProperty('nextAttemptAt')
    expect(source.kinds).toBe('obtain refresh')
    await tokens.reset()
    expect(await tokens.getAccessToken()).toBe('access-2')
  })

  it('when the token has expired normally, then nothing stops', async () => {
    const { clock, tokens } = await holdingPair({ onSuspicious: 'stop' })
    await clock.advance(3_600_000)
    expect(await tokens.getAccessToken()).toBe('access-2')
  })
})

/** Fails like axios, or like any client of OAuth 2.0. */
const answering = (status: number, error: string) => () => {
  throw Object.assign(new Error('failed'), { response: { status, data: { error } } })
}

describe('given a custom source for an OAuth 2.0 server', () => {
  it('when a refresh is rejected with invalid_grant, and no expiry is known, then that is suspicious (F156)', async () => {
    const source = new ScriptedSource({ pairs: true })
    source.script.push(() => source.grant({ refreshLifetimeMs: undefined } as never), answering(400, 'invalid_grant'))
    const { tokens, observed } = manage(source)
    await tokens.getAccessToken()
    await tokens.renew()
    await settle()
    expect(observed.suspicious).toEqual([expect.objectContaining({ evidence: 'expiry-unknown', severity: 'medium' })])
    expect(source.kinds).toBe('obtain refresh obtain')
  })

  it('when a refresh is rejected with invalid_client, then the refresh token is kept, and the client cools down for a minute (F157)', async () => {
    const { clock, source, tokens, observed } = manage(new ScriptedSource({ pairs: true }))
    await tokens.getAccessToken()
    source.script.push(answering(401, 'invalid_client'))
    expect(await outcome(tokens.renew())).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    await clock.advance(59_999)
    expect(await outcome(tokens.renew())).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    await clock.advance(1)
    await tokens.renew()
    expect(source.calls.map(({ refreshToken }) => refreshToken)).toEqual([undefined, 'refresh-1', 'refresh-1'])
    expect(observed.suspicious).toEqual([])
  })
})

describe('given a shared store', () => {
  /** A memory store that calls `around` before it receives a failed exchange. */
  const storeWith = (around: (record: TokenRecord, lease: Lease) => Promise<unknown>) => {
    const inner = memoryStore() as OpenableStore
    const store: OpenableStore = {
      ...inner,
      kind: 'test',
      open(key, clock, reports) {
        const record = inner.open(key, clock, reports)
        return {
          acquire: (...given) => record.acquire(...given),
          acquireForLogout: (...given) => record.acquireForLogout(...given),
          accept: (...given) => record.accept(...given),
          adopt: (...given) => record.adopt(...given),
          clear: (...given) => record.clear(...given),
          release: async (lease, ...observed) => {
            await around(record, lease)
            return record.release(lease, ...observed)
          },
        }
      },
    }
    return store
  }

  it('when the store holds a newer token set, then it is adopted without alarm (D1)', async () => {
    const newer = { accessToken: 'theirs', accessLifetimeMs: 60_000, accessRemainingMs: 60_000 }
    const store = storeWith((record, lease) => record.accept(lease, newer))
    const { source, tokens, observed: heard } = await holdingPair({ store })
    source.script.push(refused())
    tokens.peekAccessToken()
    await settle()
    expect([tokens.peekAccessToken(), source.kinds, heard.suspicious]).toEqual(['theirs', 'obtain refresh', []])
    expect(heard.renewed.at(-1)).toMatchObject({ by: 'adopted', because: 'due' })
  })

  it('when renew() finds a newer token set, then it raises no alarm, and renews that one', async () => {
    const newer = { ...new ScriptedSource({ pairs: true }).grant(), accessRemainingMs: 60_000, refreshToken: 'theirs' }
    const store = storeWith((record, lease) => record.accept(lease, newer))
    const { source, tokens, observed: heard } = await holdingPair({ store })
    source.script.push(refused())
    await tokens.renew()
    expect(source.calls.map((call) => call.refreshToken)).toEqual([undefined, 'refresh-1', 'theirs'])
    expect(heard.suspicious).toEqual([])
  })

  it('when a token set is adopted after a suspicion, then that settles it: superseded', async () => {
    const store = memoryStore()
    const { clock, source, tokens, observed: heard } = await holdingPair({ store, retry: { maxAttempts: 1 } })
    source.script.push(refused())
    await outcome(tokens.renew())
    const sibling = manage(new ScriptedSource(), { store }, clock)
    await clock.advance(15_000)
    await sibling.tokens.getAccessToken()
    await tokens.getAccessToken()
    expect(heard.suspicionSettled).toEqual([{ fingerprint: fingerprint('refresh-1'), verdict: 'superseded' }])
  })

  it('when the store was not updated that a refresh token is spent, then it is not presented again', async () => {
    const store = storeWith(() => Promise.reject(new Error('gone')))
    const { clock, source, tokens } = await holdingPair({ store, retry: { maxAttempts: 2 } })
    source.script.push(refused(), failing(503), failing(503))
    await outcome(tokens.renew())
    await clock.advance(60_000)
    await outcome(tokens.renew())
    await clock.advance(60_000)
    await tokens.renew()
    expect(source.calls.filter((call) => call.refreshToken === 'refresh-1')).toHaveLength(1)
  })

  it('when another owner was granted the token since, then the alarm is low (D5)', async () => {
    const clock = manualClock()
    const store = storeWith(async (record) => {
      await clock.advance(20_000) // our lease expires
      await record.acquire('another', Infinity, 15_000)
    })
    const source = new ScriptedSource({ pairs: true })
    const world = manage(source, { store, renewal: { keepWarm: 'never' } }, clock)
    await world.tokens.getAccessToken()
    await clock.advance(45_000)
    source.script.push(refused())
    world.tokens.peekAccessToken()
    expect(await observed(world.observed.suspicious)).toMatchObject([{ evidence: 'concurrent-use', severity: 'low' }])
  })

  it('when the store cannot be read, then the alarm is medium (D7)', async () => {
    const store = storeWith(() => Promise.reject(new Error('gone')))
    const { source, tokens, observed: heard } = await holdingPair({ store })
    source.script.push(refused())
    tokens.peekAccessToken()
    expect(await observed(heard.suspicious)).toMatchObject([{ evidence: 'store-unreachable', severity: 'medium' }])
  })
})
