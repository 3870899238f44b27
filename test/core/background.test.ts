import { describe, expect, it } from '@jest/globals'
import { createTokenManager, memoryStore, type TokenManagerOptions } from '../../src/index.ts'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { share } from '../support/part.ts'
import { randomFrom } from '../support/random.ts'
import { settle } from '../support/watched-clock.ts'

const QUIET: Partial<TokenManagerOptions> = { renewal: { background: false }, exchangeTimeoutMs: 1_000 }

/** A manager whose token of 60 s is due: 15 s before its expiry. */
async function due(options = QUIET) {
  const world = manage(new ScriptedSource(), options)
  await world.tokens.getAccessToken()
  await world.clock.advance(46_000)
  return world
}

describe('given renewal.background: false', () => {
  it('F312: when a token is due, then only the next caller renews it, and waits for the renewal', async () => {
    const { source, tokens } = await due()
    const gate = held(() => source.grant())
    source.script.push(gate.answer)
    expect([tokens.peekAccessToken(), source.calls.length]).toEqual([undefined, 1])
    const first = tokens.getAccessToken()
    await settle()
    expect([tokens.peekAccessToken(), await tokens.getAccessToken()]).toEqual(['access-1', 'access-1'])
    gate.open()
    expect([await first, source.calls.length]).toEqual(['access-2', 2])
  })

  it('F312: when a token is used, then no timer renews it', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource(), {
      renewal: { background: false, keepWarm: 'always' },
    })
    await tokens.getAccessToken()
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(120_000)
    expect(source.calls).toHaveLength(1)
  })

  it('F312: when the service does not respond, then the caller gets the old token after exchangeTimeoutMs, and no other request follows', async () => {
    const { clock, source, tokens, observed } = await due()
    source.script.push(() => new Promise(() => {}))
    const got = tokens.getAccessToken()
    await clock.advance(999)
    expect(tokens.status().renewing).toBe(true)
    await clock.advance(1)
    expect(await got).toBe('access-1')
    await clock.advance(8_000)
    expect([source.calls.length, observed.renewalFailed.length, tokens.status().renewing]).toEqual([2, 1, false])
  })

  it('F312: when the only caller gives up, then the exchange in flight completes, and its token is used', async () => {
    const { source, tokens } = await due()
    const gate = held(() => source.grant())
    source.script.push(gate.answer)
    const caller = new AbortController()
    const ended = outcome(tokens.getAccessToken({ signal: caller.signal }))
    await settle()
    caller.abort()
    await ended
    gate.open()
    await tokens.settled()
    expect([tokens.peekAccessToken(), source.calls.length]).toEqual(['access-2', 2])
  })

  it('F312: when the only caller gives up in the pause between two token requests, then no request follows until the next caller', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource(), QUIET)
    source.script.push(failing(503))
    const caller = new AbortController()
    const ended = outcome(tokens.getAccessToken({ signal: caller.signal }))
    await settle()
    expect(source.calls).toHaveLength(1)
    caller.abort()
    await ended
    await clock.advance(60_000)
    expect([source.calls.length, tokens.status()]).toEqual([1, expect.objectContaining({ renewing: false })])
    expect([await tokens.getAccessToken(), source.calls.length]).toEqual(['access-1', 2])
  })

  it('F312: when the only caller gives up while another process renews, then this manager no longer polls the store', async () => {
    const store = memoryStore()
    const first = manage(new ScriptedSource(), { store, ...QUIET })
    first.source.script.push(() => new Promise(() => {}))
    void outcome(first.tokens.getAccessToken())
    await settle()
    const second = manage(first.source, { store, ...QUIET }, first.clock)
    const caller = new AbortController()
    const ended = outcome(second.tokens.getAccessToken({ signal: caller.signal }))
    await settle()
    caller.abort()
    await ended
    await second.clock.advance(250)
    expect(second.tokens.status()).toMatchObject({ phase: 'empty', renewing: false })
  })

  it('F312: when the API rejects the token of a request that cannot be replayed, then the next caller replaces it', async () => {
    const { source, tokens } = manage(new ScriptedSource(), QUIET)
    const token = await tokens.getAccessToken()
    const internals = internalsOf(tokens)
    internals!.renewInBackground(token)
    await settle()
    expect([source.calls.length, tokens.peekAccessToken()]).toEqual([1, undefined])
    expect([await tokens.getAccessToken(), source.calls.length]).toEqual(['access-2', 2])
  })

  it('F312: when callers arrive, fail and give up at any time, then no token request begins while no caller waits', async () => {
    for (let seed = 1; seed <= share(60, 20); seed += 1) {
      const random = randomFrom(seed)
      const clock = manualClock()
      let waiting = 0
      const lonely: number[] = []
      let issued = 0
      const obtain = async () => {
        if (waiting === 0) lonely.push(clock.monotonicNow())
        await new Promise<void>((resolve) => clock.setTimer(resolve, random() * 1_500))
        if (random() < 0.4) throw new TypeError('fetch failed')
        return { accessToken: `token-${(issued += 1)}`, accessLifetimeMs: 8_000 }
      }
      const tokens = createTokenManager({ source: { id: 'any', obtain }, clock, random, ...QUIET })
      for (let step = 0; step < 40; step += 1) {
        const caller = new AbortController()
        const leave = clock.setTimer(() => caller.abort(), random() * 3_000)
        waiting += 1
        void outcome(tokens.getAccessToken({ signal: caller.signal, maxWaitMs: random() * 4_000 })).finally(() => {
          waiting -= 1
          leave()
        })
        await clock.advance(random() * 2_500)
      }
      await clock.advance(60_000)
      expect({ seed, lonely, renewing: tokens.status().renewing }).toEqual({ seed, lonely: [], renewing: false })
    }
  })
})

describe('given settled()', () => {
  it('F312: when nothing is in flight, then it resolves at once, and starts nothing', async () => {
    const { source, tokens } = manage()
    await tokens.settled()
    expect(source.calls).toHaveLength(0)
  })

  it('F312: when a renewal runs in the background, then it resolves when the new token is in use', async () => {
    const { source, tokens } = await due({ renewal: { keepWarm: 'never' } })
    const gate = held(() => source.grant())
    source.script.push(gate.answer)
    tokens.peekAccessToken()
    let isSettled = false
    const settled = tokens.settled().then(() => (isSettled = true))
    await settle()
    expect(isSettled).toBe(false)
    gate.open()
    await settled
    expect(tokens.peekAccessToken()).toBe('access-2')
  })

  it('F312: when a token request fails, then it resolves during the pause before the next one', async () => {
    const { clock, source, tokens } = await due({ renewal: { keepWarm: 'never' } })
    source.script.push(failing(503), failing(503), failing(503), failing(503))
    tokens.peekAccessToken()
    await tokens.settled()
    expect([tokens.status().renewing, clock.pendingTimers]).toEqual([true, 1])
    await clock.advance(60_000)
    await tokens.settled()
    expect(tokens.status().renewing).toBe(false)
  })

  it('F312: when the manager is closed or reset, then it resolves when the exchange in flight has ended', async () => {
    for (const act of ['close', 'reset'] as const) {
      const { source, tokens } = manage()
      const gate = held(() => source.grant())
      source.script.push(gate.answer)
      void outcome(tokens.getAccessToken())
      await settle()
      const acted = tokens[act]()
      const settled = tokens.settled().then(() => source.calls.length)
      gate.open()
      await acted
      expect(await settled).toBe(act === 'reset' ? 2 : 1)
    }
  })
})
