import { describe, expect, it } from '@jest/globals'
import { person, session } from '../../src/login/index.ts'
import { sharedStore, type SharedStoreOptions } from '../../src/store/index.ts'
import { TokenError } from '../../src/index.ts'
import { dice } from '../../scripts/lib/dice.mjs'
import { printFigure } from '../support/figure.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { manage, ScriptedSource } from '../support/managed.ts'
import { type ManualClock, manualClock } from '../../tools/testing/manual-clock.ts'

/** A register that does not respond while it is silent. */
class Register extends MemoryRegister {
  isSilent = false

  override read(key: string) {
    return this.isSilent ? new Promise<never>(() => {}) : super.read(key)
  }

  override replace(...given: Parameters<MemoryRegister['replace']>) {
    return this.isSilent ? new Promise<never>(() => {}) : super.replace(...given)
  }
}

const GAPS = [300, 1_000, 3_000, 8_000, 20_000]
const STEP_MS = 100

/** A login that is stored, and used by another process too. Its access token has expired. */
async function asleep(onUnavailable: SharedStoreOptions['onUnavailable'], clock: ManualClock, seed = 1) {
  const register = new Register(clock)
  const source = Object.assign(new ScriptedSource({ pairs: true }), { login: person })
  const store = sharedStore(register, { onUnavailable })
  const managed = manage(source, { store, random: dice(seed).random, renewal: { keepWarm: 'never' } }, clock)
  await managed.tokens.adopt(source.grant())
  await clock.advance(100_000)
  return { register, ...managed }
}

/** Sends ten requests a second while the store is silent for `gapMs`, and afterwards. @returns How long after the store's return a request succeeds, ms. */
async function servedAfter(gapMs: number, onUnavailable: SharedStoreOptions['onUnavailable'], seed: number) {
  const clock = manualClock()
  const { register, tokens } = await asleep(onUnavailable, clock, seed)
  let served = false
  const ask = () =>
    void tokens.getAccessToken({ maxWaitMs: 2_000 }).then(
      () => (served = true),
      () => undefined,
    )
  register.isSilent = true
  for (let ms = 0; ms < gapMs; ms += STEP_MS) {
    ask()
    await clock.advance(STEP_MS)
  }
  expect(served).toBe(false)
  register.isSilent = false
  for (let ms = 0; ms < 60_000; ms += STEP_MS) {
    ask()
    await clock.advance(STEP_MS)
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it changes during the await
    if (served) return ms + STEP_MS
  }
  return Infinity
}

describe('given a login whose access token has expired, and a store that is silent for a while', () => {
  it.each(GAPS.flatMap((gapMs) => (['private', 'fail'] as const).map((mode) => [gapMs, mode] as const)))(
    'F352: when the gap takes %d ms, and onUnavailable is %s, then requests succeed at most 2 s after the store is back',
    async (gapMs, mode) => {
      const waits: number[] = []
      for (const seed of [1, 2, 3]) waits.push(await servedAfter(gapMs, mode, seed))
      const longestMs = Math.max(...waits)
      printFigure(`${mode}, a store silent for ${gapMs / 1_000} s`, `served at most ${longestMs / 1_000} s after it`)
      expect(longestMs).toBeLessThanOrEqual(2_000)
    },
  )

  it('F352: when the store does not respond, then the error names the store, and the next attempt comes after 1 to 2 s', async () => {
    const clock = manualClock()
    const { register, tokens } = await asleep('private', clock)
    register.isSilent = true
    const asked = tokens.getAccessToken().catch((error: unknown) => error)
    await clock.advance(5_000)
    const error = (await asked) as TokenError
    expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    const restMs = error.retryAt! - (clock.wallNow() - 5_000 + 250)
    expect([restMs >= 1_000, restMs <= 2_000]).toEqual([true, true])
  })

  it('F352: when the user logs in during the outage, then this process refreshes these tokens by itself', async () => {
    const clock = manualClock()
    const { register, source, tokens } = await asleep('private', clock)
    register.isSilent = true
    void tokens.adopt(source.grant()).catch(() => undefined)
    await clock.advance(100_000)
    const asked = tokens.getAccessToken()
    await clock.advance(5_000)
    expect(await asked).toBe('access-3')
  })
})

describe('given a session that has no token, and a silent store', () => {
  it('F352: when the service rejects it, then the error names the store, and the next attempt comes after 1 to 2 s', async () => {
    const clock = manualClock()
    const register = new Register(clock)
    const source = Object.assign(new ScriptedSource(), { login: session })
    const { tokens } = manage(source, { store: sharedStore(register), random: () => 0.5 }, clock)
    const rests: [string, number][] = []
    tokens.on('renewalFailed', ({ error, nextAttemptAt }) => rests.push([error.code, nextAttemptAt - clock.wallNow()]))
    register.isSilent = true
    for (let n = 0; n < 8; n += 1)
      source.script.push(() => {
        throw new TokenError('ERR_LOGIN_REQUIRED', 'nobody', { outcome: 'rejected' })
      })
    void tokens.getAccessToken().catch(() => undefined)
    await clock.advance(10_000)
    expect(rests).toEqual([['ERR_STORE_UNAVAILABLE', 1_500]])
    expect(source.calls.length).toBeGreaterThan(0)
  })
})
