import { describe, expect, it } from '@jest/globals'
import type { TokenGrant, TokenManager, TokenSource } from '../../src/index.ts'
import { createTokenManager, TokenError } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

/** An account whose credentials change. Each grant names the generation in which its exchange began. */
function account(takesMs: number) {
  const clock = manualClock()
  let generation = 1
  let calls = 0
  let answer = (): void => {}
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const grant = async (): Promise<TokenGrant> => {
    const begunIn = generation
    calls += 1
    const isFirst = calls === 1
    await new Promise<void>((resolve) => clock.setTimer(resolve, takesMs))
    if (!isFirst) answer()
    // The first request fails, so the renewal contains a pause.
    if (isFirst)
      throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'responded with 503', { status: 503, outcome: 'not-sent' })
    const [accessToken, refreshToken] = [`generation ${begunIn}`, `refresh ${calls}`].map((text) =>
      text.replace(' ', '-'),
    )
    return {
      accessToken: accessToken!,
      accessLifetimeMs: 60_000,
      refreshToken: refreshToken!,
      refreshLifetimeMs: 600_000,
    }
  }
  const source: TokenSource = { id: 'account', obtain: grant, refresh: grant }
  const tokens = createTokenManager({ source, clock, random: () => 0 })
  return {
    clock,
    tokens,
    /** Resolves when the first successful response has arrived. */
    answered,
    get generation() {
      return generation
    },
    /** What a user does after the credentials have changed. */
    change(): Promise<void> {
      generation += 1
      return tokens.reset()
    },
  }
}

const ASKS: [string, (tokens: TokenManager) => Promise<unknown>][] = [
  ['getAccessToken()', (tokens) => tokens.getAccessToken()],
  ['renew()', (tokens) => tokens.renew().then(() => tokens.getAccessToken())],
  ['replaceAccessToken()', (tokens) => tokens.replaceAccessToken('refused')],
]

describe.each(ASKS)('given callers of %s at every moment of a renewal that takes three seconds', (_, ask) => {
  it.each(Array.from({ length: 18 }, (_moment, n) => n * 200))(
    'when the manager is reset after %i ms, then no caller gets an earlier token (P11)',
    async (resetAtMs) => {
      const world = account(1_000)
      const { clock, tokens } = world
      let stale = 0
      let served = 0
      const callers: Promise<void>[] = []
      for (let ms = 0; ms < 8_000; ms += 100) {
        if (ms === resetAtMs) await world.change()
        const got = ask(tokens).then((token) => {
          served += 1
          // Compares with the generation at the end of the wait, not at its beginning.
          if (token !== `generation-${world.generation}`) stale += 1
        })
        callers.push(got)
        await clock.advance(100)
      }
      await clock.advance(10_000)
      await Promise.all(callers)
      expect([stale, served]).toEqual([0, 80])
      expect(tokens.peekAccessToken()).toBe('generation-2')
    },
  )
})

/** Resets the manager so many microtasks after the successful response. @returns Whether its callers had their token by then. */
async function resetAfterAnswer(microtasks: number): Promise<boolean> {
  const world = account(1_000)
  const { clock, tokens } = world
  const waiting = tokens.getAccessToken()
  await clock.advance(2_249) // a failed request, a pause, and a second request up to its last millisecond
  const reset = world.answered.then(async () => {
    for (let n = 0; n < microtasks; n += 1) await Promise.resolve()
    const isServed = tokens.status().phase === 'fresh'
    await world.change()
    return isServed
  })
  await clock.advance(1)
  const wasServed = await reset
  expect(tokens.peekAccessToken()).toBeUndefined()
  const later = tokens.getAccessToken()
  await clock.advance(5_000)
  expect(await waiting).toBe(wasServed ? 'generation-1' : 'generation-2')
  expect(await later).toBe('generation-2')
  return wasServed
}

it('given a token that is just arriving, when the manager is reset, then callers who still wait get the next one (P11)', async () => {
  const served: boolean[] = []
  for (let microtasks = 0; microtasks < 40; microtasks += 1) served.push(await resetAfterAnswer(microtasks))
  // Some of these resets came before the caller got the token, and some after.
  expect(new Set(served)).toEqual(new Set([false, true]))
})
