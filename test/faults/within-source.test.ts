import { describe, expect, it } from '@jest/globals'
import { createTokenManager, type TokenSource } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { type LoginManager, person } from '../../src/login/index.ts'
import { outcome } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

const ACTS: Record<string, (tokens: LoginManager) => Promise<unknown>> = {
  'logout()': (tokens) => tokens.logout(),
  'close()': (tokens) => tokens.close(),
  'settled()': (tokens) => tokens.settled(),
  'getAccessToken()': (tokens) => tokens.getAccessToken(),
  'renew()': (tokens) => tokens.renew(),
}
/** A manager in virtual time. The types of a manager without a login lack some of the acts. */
function manage(source: TokenSource) {
  const clock = manualClock()
  return { clock, tokens: createTokenManager({ source, clock, random: () => 0 }) as LoginManager }
}
const grant = (n: number) => ({ accessToken: `access-${n}`, accessLifetimeMs: 60_000, refreshToken: `refresh-${n}` })
const itself = { code: 'ERR_TOKEN_SOURCE', message: expect.stringContaining('for itself') as unknown }

/** A source of credentials, or of a login, whose token requests call `inside` and note its result. */
function sourceThatCalls(inside: () => Promise<unknown>, isLogin: boolean) {
  const results: unknown[] = []
  let calls = 0
  const request = async () => {
    results.push(await outcome(inside()))
    calls += 1
    return grant(calls)
  }
  const source: TokenSource = { id: 'own', obtain: request, refresh: request, ...(isLogin && { login: person }) }
  return { source, results }
}

describe.each(Object.keys(ACTS))('F404: given a source whose own token request calls %s, and waits for it', (name) => {
  it.each([
    ['obtain', false],
    ['refresh', false],
    ['refresh', true],
  ] as const)(
    'when it is an %s (login: %s), then it fails at once, changes nothing, and the caller gets its token',
    async (kind, isLogin) => {
      const managers: LoginManager[] = []
      const { source, results } = sourceThatCalls(() => ACTS[name]!(managers[0]!), isLogin)
      const { tokens } = manage(source)
      managers.push(tokens)
      if (kind === 'refresh') await tokens.adopt({ refreshToken: 'refresh-0' })
      expect(await outcome(tokens.getAccessToken())).toBe('access-1')
      expect(results).toEqual([expect.objectContaining(itself)])
      await tokens.close()
    },
  )

  it('when nothing catches the error, then the caller receives it', async () => {
    const managers: LoginManager[] = []
    const { tokens } = manage({
      id: 'own',
      obtain: async () => {
        await ACTS[name]!(managers[0]!)
        return grant(1)
      },
    })
    managers.push(tokens)
    expect(await outcome(tokens.getAccessToken())).toMatchObject(itself)
  })

  it('when the token request has ended, then the same code may call it', async () => {
    const managers: LoginManager[] = []
    let later: Promise<unknown> | undefined
    const { tokens } = manage({
      id: 'own',
      obtain: () => {
        later ??= settle().then(() => outcome(ACTS[name]!(managers[0]!)))
        return Promise.resolve(grant(1))
      },
    })
    managers.push(tokens)
    await tokens.getAccessToken()
    expect(await later).not.toEqual(expect.objectContaining(itself))
  })
})

describe.each(['logout()', 'close()', 'settled()'])(
  'F404: given a source whose revoke calls %s, and waits for it',
  (name) => {
    it('when a user logs out, then the logout ends', async () => {
      const managers: LoginManager[] = []
      const { tokens } = manage({
        id: 'own',
        login: person,
        obtain: () => Promise.resolve(grant(1)),
        revoke: async () => void (await ACTS[name]!(managers[0]!)),
      })
      managers.push(tokens)
      await tokens.adopt(grant(1))
      expect(await outcome(tokens.logout())).toEqual({ revoked: true })
    })
  },
)

describe('F404: given a promise of adopt() that waits for a token of the same manager', () => {
  it('when there is no login, then the caller in it ends at its own maxWaitMs', async () => {
    const { tokens, clock } = manage({ id: 'own', login: person, obtain: () => Promise.resolve(grant(1)) })
    const inside = outcome(tokens.getAccessToken({ maxWaitMs: 5_000 }))
    const adopted = outcome(tokens.adopt(inside.then(() => undefined)))
    await clock.advance(4_999)
    const first = await Promise.race([inside, settle().then(() => 'waits')])
    await clock.advance(1)
    expect(first).toBe('waits')
    expect(await inside).toMatchObject({ code: 'ERR_WAIT_TIMEOUT' })
    await adopted
  })
})
