import { describe, expect, it } from '@jest/globals'
import { inspect } from 'node:util'
import { createTokenManager, logEvents, memoryStore, type TokenError, type TokenStore } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { challengeOf } from '../../src/oauth2/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { answering } from '../service/world.ts'
import { GRANT, sourceBehind } from './world.ts'

const CLAIMS = '{"access_token":{"acrs":{"essential":true,"value":"hidden-value"}}}'

async function loginAt(body: object, status = 400, store?: TokenStore) {
  let isWell = false
  const source = sourceBehind(
    (config) =>
      answering(JSON.stringify(isWell ? { ...GRANT, refresh_token: 'n' } : body), isWell ? 200 : status)(config),
    { grant: 'login', account: 'somebody' },
  )
  const clock = manualClock()
  const tokens = createTokenManager({ source, clock, ...(store && { store }) }) as LoginManager
  const lines: unknown[] = []
  const line = (...given: unknown[]) => void lines.push(...given)
  logEvents(tokens, { info: line, warn: line, error: line })
  const events: unknown[] = []
  for (const name of ['renewalFailed', 'loginChanged', 'anomaly', 'suspicious'] as const)
    tokens.on(name, (event: unknown) => events.push(event))
  await tokens.adopt({ refreshToken: 'refresh-of-nobody' })
  const asked = async () => (await outcome(tokens.getAccessToken())) as unknown as TokenError
  return { tokens, clock, lines, events, asked, heal: () => (isWell = true) }
}

describe('given a refresh that the server rejects until the user acts, and that names claims (F409)', () => {
  it.each<[string, () => TokenStore | undefined]>([
    ['without a store', () => undefined],
    ['with a memory store', () => memoryStore()],
    ['with a shared store', () => sharedStore(new MemoryRegister())],
  ])('when callers ask %s, at once and later, then each error has them, until the next login', async (_, store) => {
    const { tokens, clock, asked, heal } = await loginAt(
      { error: 'interaction_required', claims: CLAIMS },
      400,
      store(),
    )
    const first = await asked()
    await clock.advance(120_000)
    for (const error of [first, await asked(), await asked()]) {
      expect(error).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'interaction' })
      expect(challengeOf(error)).toEqual({ error: 'interaction_required', claims: CLAIMS })
    }
    heal()
    await tokens.adopt({ refreshToken: 'of the next login' })
    expect(await asked()).toBe('issued-token')
    await tokens.logout()
    expect(challengeOf(await asked())).toBeUndefined()
  })

  it('when the error is printed, copied to JSON or logged, then the claims are in no text, event or line', async () => {
    const { asked, lines, events } = await loginAt({ error: 'interaction_required', claims: CLAIMS })
    const error = await asked()
    const printed = [error, lines, events].map(
      (one) => inspect(one, { depth: 9, showHidden: true }) + JSON.stringify(one),
    )
    expect(printed.join()).toContain('interaction_required')
    expect(printed.join()).not.toMatch(/acrs|hidden-value/)
  })

  it.each<[string, object, number, string | undefined]>([
    ['another code', { error: 'consent_required', claims: CLAIMS }, 400, CLAIMS],
    [
      'a code of a provider, more specific',
      { error: 'invalid_grant', suberror: 'basic_action', claims: CLAIMS },
      400,
      CLAIMS,
    ],
    ['status 401', { error: 'login_required', claims: CLAIMS }, 401, CLAIMS],
    ['an object', { error: 'interaction_required', claims: JSON.parse(CLAIMS) as object }, 400, CLAIMS],
    ['no claims', { error: 'interaction_required' }, 400, undefined],
    ['a number', { error: 'interaction_required', claims: 5 }, 400, undefined],
    ['a text that is no JSON', { error: 'interaction_required', claims: 'all' }, 400, undefined],
    [
      'more than 8 KiB',
      { error: 'interaction_required', claims: JSON.stringify({ a: 'x'.repeat(8_192) }) },
      400,
      undefined,
    ],
  ])('when it has %s, then that is passed on, or absent', async (_, body, status, claims) => {
    const { asked } = await loginAt(body, status)
    expect(challengeOf(await asked())?.claims).toBe(claims)
  })
})
