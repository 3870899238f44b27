import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosInstance } from 'axios'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { attachBearer, type Clock, memoryStore } from '../../src/index.ts'
import { inProcess } from '../axios/support/in-process.ts'
import { managerOf, mint } from '../axios/support/tokens.ts'
import { failing, outcome, ScriptedSource } from '../support/managed.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

/** A clock that runs on while the event loop is blocked. Timers that are due during the stall fire together after it. */
class StallingClock implements Clock {
  readonly #calm = manualClock()
  readonly #timers = new Set<{ arm(): void; cancel(): void }>()
  #stalledMs = 0

  wallNow = () => this.#calm.wallNow() + this.#stalledMs
  monotonicNow = () => this.#calm.monotonicNow() + this.#stalledMs

  setTimer = (callback: () => void, delayMs: number) => {
    const at = this.monotonicNow() + delayMs
    const run = () => {
      this.#timers.delete(timer)
      callback()
    }
    const arm = () => (timer.cancel = this.#calm.setTimer(run, Math.max(0, at - this.monotonicNow())))
    const timer = { arm, cancel: () => {} }
    this.#timers.add(timer)
    arm()
    return () => {
      this.#timers.delete(timer)
      timer.cancel()
    }
  }

  advance = (ms: number) => this.#calm.advance(ms)

  /** Blocks the event loop for this time. */
  stall(ms: number): void {
    this.#stalledMs += ms
    for (const timer of this.#timers) {
      timer.cancel()
      timer.arm()
    }
  }
}

/** A manager, and an instance of an API that runs `during.call` at each call and responds with its result, or 200. */
async function world(lifetimeMs = 60_000) {
  const clock = new StallingClock()
  const minted = mint({ lifetimeMs })
  const tokens = managerOf(minted.source, { clock, renewal: { keepWarm: 'never' } })
  const during: { call: () => number | undefined } = { call: () => undefined }
  const { adapter, calls } = inProcess(() => during.call() ?? 200)
  const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
  return { clock, minted, tokens, api, calls, during }
}
const sent = ({ calls }: { calls: readonly { authorization: unknown }[] }) => calls.map((call) => call.authorization)

/** Two requests wait for a token that is held. It arrives, and the first call with it stalls the process until it has expired. */
async function releasedIntoAStall({ clock, minted, api, during }: Awaited<ReturnType<typeof world>>): Promise<void> {
  const waiting = Promise.all([api.get('/1'), api.get('/2')])
  await settle()
  during.call = () => {
    during.call = () => undefined
    clock.stall(5_000)
    return undefined
  }
  minted.release()
  await clock.advance(10_000)
  await waiting
}

/** Where user code may stall, between a request and its adapter. */
const PLACES: [string, (api: AxiosInstance, stall: () => void, attach: () => void) => void][] = [
  [
    'an interceptor that runs before ours',
    (api, stall, attach) => {
      attach()
      api.interceptors.request.use((config) => {
        stall()
        return config
      })
    },
  ],
  [
    'an interceptor that runs after ours',
    (api, stall, attach) => {
      api.interceptors.request.use(async (config) => {
        stall()
        return config
      })
      attach()
    },
  ],
  [
    'a transform',
    (api, stall, attach) => {
      attach()
      api.defaults.transformRequest = [
        (data: unknown) => {
          stall()
          return data
        },
      ]
    },
  ],
]

describe.each(PLACES)('given a busy loop of 5 s in %s', (_, arrange) => {
  // A token of 60 s counts as expired when 3 s or less are left.
  it.each([
    [8_001, 'token-1'],
    [8_000, 'token-2'],
    [5_000, 'token-2'],
    [4_999, 'token-2'],
  ])('when the token has %i ms left at its start, then %s is sent after it (F127)', async (leftMs, token) => {
    const { clock, tokens, api, calls } = await world()
    await tokens.getAccessToken()
    await clock.advance(60_000 - leftMs)
    arrange(
      api,
      () => clock.stall(5_000),
      () => attachBearer(api, tokens),
    )
    await api.get('/wallet')
    expect(sent({ calls })).toEqual([`Bearer ${token}`])
  })
})

describe('given a busy loop of 5 s while requests wait for a token', () => {
  it('when it ends after their timeout, and the token arrives later, then they have failed in time (F127)', async () => {
    const { clock, minted, tokens, api, calls } = await world()
    attachBearer(api, tokens)
    minted.hold()
    const waiting = outcome(api.get('/wallet', { timeout: 1_000 }))
    await settle()
    clock.stall(5_000)
    await clock.advance(0)
    minted.release()
    expect(await waiting).toMatchObject({ code: 'ECONNABORTED' })
    expect(calls).toHaveLength(0)
  })

  it('when the token arrives before the overdue timers fire, then a request past its timeout is not sent (F127)', async () => {
    const { clock, minted, tokens, api, calls } = await world()
    attachBearer(api, tokens)
    minted.hold()
    const waiting = outcome(api.get('/wallet', { timeout: 1_000 }))
    await settle()
    clock.stall(5_000)
    minted.release() // the stalled turn has also read the response
    expect(await waiting).toMatchObject({ code: 'ECONNABORTED' })
    expect(calls).toHaveLength(0)
  })

  it('when the first request stalls as it is sent, then no other is sent with an expired token (F127)', async () => {
    const all = await world(4_000)
    attachBearer(all.api, all.tokens)
    all.minted.hold()
    await releasedIntoAStall(all)
    expect(sent(all)).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it('when the first replay stalls as it is sent, then no other is sent with an expired token (F127)', async () => {
    const all = await world(4_000)
    attachBearer(all.api, all.tokens)
    await all.tokens.getAccessToken()
    all.minted.hold()
    all.during.call = () => 401
    await releasedIntoAStall(all)
    expect(sent(all)).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2', 'Bearer token-3'])
  })
})

describe('given a busy loop that outlasts the lease of a renewal', () => {
  it.each([
    ['nobody', 'obtain refresh'],
    ['somebody', 'obtain obtain'],
  ])(
    'when %s has acquired it since, then the lease is acquired again, and nothing is presented twice (F127)',
    async (who, kinds) => {
      const clock = new StallingClock()
      const inner = memoryStore() as OpenableStore
      let claims = 0
      const store: OpenableStore = {
        ...inner,
        kind: 'test',
        open: (key, given, reports) => {
          const record = inner.open(key, given, reports)
          return {
            acquire: async (...asked) => {
              const lease = await record.acquire(...asked)
              claims += 1
              if (claims !== 2) return lease
              clock.stall(15_000) // as long as the lease lasts
              if (who === 'nobody') return lease
              const [, ...other] = asked
              expect(await record.acquire('another', ...other)).toMatchObject({ kind: 'granted' })
              clock.stall(15_000)
              return lease
            },
            acquireForLogout: (...settled) => record.acquireForLogout(...settled),
            accept: (...settled) => record.accept(...settled),
            release: (...settled) => record.release(...settled),
            adopt: (...given) => record.adopt(...given),
            clear: (...settled) => record.clear(...settled),
          }
        },
      }
      const source = new ScriptedSource({ pairs: true })
      const tokens = managerOf(source, { store, clock })
      await tokens.getAccessToken()
      await tokens.renew()
      // Another owner with a granted lease may have presented the refresh token.
      expect([claims, source.kinds]).toEqual([3, kinds])
    },
  )
})

describe('given a machine whose clocks run on while it sleeps', () => {
  it('when it sleeps for an hour with a retry pending, then waking makes one call, whatever is overdue (F21)', async () => {
    const clock = new StallingClock()
    const source = new ScriptedSource({ pairs: true })
    const tokens = managerOf(source, { clock, renewal: { keepWarm: 'always' } })
    await tokens.getAccessToken()
    source.script.push(failing(503))
    await clock.advance(45_000)
    expect(source.kinds).toBe('obtain refresh')
    clock.stall(3_600_000)
    const waiting = Array.from({ length: 100 }, () => tokens.getAccessToken())
    await clock.advance(0)
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['access-2']))
    await clock.advance(44_999)
    expect(source.kinds).toBe('obtain refresh obtain')
  })
})

describe('given a busy loop that outlasts the timeout of an exchange', () => {
  it('when the response had arrived in time, then the lifetime counts from the moment of sending (F127)', async () => {
    const { clock, minted, tokens } = await world()
    minted.hold()
    const waiting = tokens.getAccessToken()
    await settle()
    clock.stall(9_999)
    minted.release()
    await waiting
    expect(tokens.status().accessExpiresAt).toBe(clock.wallNow() + 60_000 - 9_999)
  })

  it('when the timeout is found to have passed, then the call is retried, and no caller waits longer (F127)', async () => {
    const { clock, minted, tokens } = await world()
    minted.hold()
    const waiting = tokens.getAccessToken()
    await settle()
    clock.stall(10_000)
    await clock.advance(0)
    minted.release()
    await clock.advance(250)
    expect([await waiting, minted.calls]).toEqual(['token-2', 2])
  })
})
