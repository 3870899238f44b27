import { expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { createTokenManager, TokenError, type TokenGrant, type TokenSource } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { randomFrom } from '../support/random.ts'

const LIFE_MS = 8_000
const STEPS = 20_000
/** Shorter than any phase. */
const STEP_MS = 150

/** How a token request ends, each with the probability of its share here. */
const ENDS = ['token', 'token', 'token', '429', '429', '503', '503', 'refused'] as const

interface Played {
  /** Each change of the phase that no call of the user caused: `due --> fresh`. */
  readonly untold: Set<string>
  /** Where the calls of the user led: `reset() --> empty`. */
  readonly told: Set<string>
}

/** Simulates managers: callers, time, any response of a service, and the calls of a user. */
async function play(seed: number): Promise<Played> {
  const random = randomFrom(seed)
  const one = <Value>(of: readonly [Value, ...Value[]]) => of[Math.floor(random() * of.length)] ?? of[0]
  const clock = manualClock()
  let issued = 0
  const grant = (): TokenGrant => ({
    accessToken: `access-${(issued += 1)}`,
    accessLifetimeMs: LIFE_MS,
    ...(random() < 0.8 && { refreshToken: `refresh-${issued}`, refreshLifetimeMs: 10 * LIFE_MS }),
  })
  const answer = async (refused: 'ERR_CREDENTIALS_REJECTED' | 'ERR_REFRESH_REJECTED'): Promise<TokenGrant> => {
    await new Promise<void>((resolve) => clock.setTimer(resolve, 2 * STEP_MS))
    const end = one(ENDS)
    if (end === 'token') return grant()
    if (end === '429') throw new TokenError('ERR_THROTTLED', end, { outcome: 'deferred', retryAfterMs: 2_000 })
    if (end === '503') throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', end, { outcome: 'unknown-5xx' })
    throw new TokenError(refused, end, { outcome: 'rejected', refreshToken: 'refused' })
  }
  const source: TokenSource = {
    id: 'played',
    obtain: () => answer('ERR_CREDENTIALS_REJECTED'),
    refresh: () => answer('ERR_REFRESH_REJECTED'),
  }
  const begin = () => createTokenManager({ source, clock, random, onSuspicious: 'stop' })
  const played: Played = { untold: new Set(), told: new Set() }
  let tokens = begin()
  const phase = () => tokens.status().phase.replace('-', '_')
  for (let step = 0; step < STEPS; step += 1) {
    const draw = random()
    if (draw < 0.01) {
      const act = one(['adopt', 'reset', 'close'] as const)
      const acts = { adopt: () => tokens.adopt(grant()), reset: () => tokens.reset(), close: () => tokens.close() }
      void acts[act]()
      played.told.add(`${act}() --> ${phase()}`)
      if (act === 'close') tokens = begin()
    } else if (draw < 0.3)
      one<() => Promise<unknown>>([() => tokens.renew(), () => tokens.getAccessToken()])().catch(() => undefined)
    const before = phase()
    await clock.advance(STEP_MS)
    if (phase() !== before) played.untold.add(`${before} --> ${phase()}`)
  }
  return played
}

it('given the diagram of phases, when managers are simulated, then the diagram shows each change among five phases and no other', async () => {
  const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(readFileSync('docs/renewal.md', 'utf8')) ?? []
  const drawn = Array.from(diagram.matchAll(/^ +(\w+ --> \w+): .*$/gm), ([, change]) => change)
  const { untold, told } = await play(1)
  expect([...untold].filter((change) => !change.includes('stopped')).sort()).toEqual(drawn.sort())
  // Only a call of the user ends a stop.
  expect([...untold].filter((change) => change.startsWith('stopped'))).toEqual([])
  expect([...told].sort()).toEqual(['adopt() --> fresh', 'close() --> closed', 'reset() --> empty'])
})
