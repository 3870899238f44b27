import { describe, expect, it } from '@jest/globals'
import { memoryStore, TokenError, type TokenGrant } from '../../src/index.ts'
import { GRANT_DETAILS, type DetailedGrant } from '../../src/core/token-source.ts'
import { person } from '../../src/login/index.ts'
import { listen, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

/** A service that rotates refresh tokens. A refresh token presented twice ends the login. */
class StrictSource extends ScriptedSource {
  readonly presented: string[] = []
  isDead = false

  constructor(mayObtain: boolean) {
    super({ pairs: true })
    const usual = this.refresh!
    this.refresh = (refreshToken, context) => {
      if (this.isDead || this.presented.includes(refreshToken)) {
        this.isDead = true
        throw new TokenError('ERR_REFRESH_REJECTED', 'reuse', { status: 400, refreshToken: 'refused' })
      }
      this.presented.push(refreshToken)
      return usual(refreshToken, context)
    }
    if (!mayObtain) Object.assign(this, { login: person })
  }

  /** The next response has another refresh token, and other unexpected members. */
  answersWith(changes: object): void {
    this.script.push(() => this.grant(changes))
  }
}

/** A token set whose access token has expired, because there was no request for a while. */
async function asleep(mayObtain = false, options = {}) {
  const source = new StrictSource(mayObtain)
  const world = { ...manage(source, { renewal: { keepWarm: 'never', maxStalenessMs: Infinity }, ...options }), source }
  const { refreshToken } = source.grant()
  await world.tokens.adopt({ refreshToken, refreshLifetimeMs: 3_600_000, subject: 'alice', context: 'tenant' })
  return world
}

const ODD: [string, object, string][] = [
  ['accessLifetimeMs 0', { accessLifetimeMs: 0 }, 'accessLifetimeMs'],
  ['accessLifetimeMs negative', { accessLifetimeMs: -3_000_000 }, 'accessLifetimeMs'],
  ['accessLifetimeMs NaN', { accessLifetimeMs: NaN }, 'accessLifetimeMs'],
  ['accessLifetimeMs Infinity', { accessLifetimeMs: Infinity }, 'accessLifetimeMs'],
  ['refreshLifetimeMs 0', { refreshLifetimeMs: 0 }, 'refreshLifetimeMs'],
  ['refreshLifetimeMs null', { refreshLifetimeMs: null }, 'refreshLifetimeMs'],
  ['an empty subject', { subject: '' }, 'subject'],
  ['subject null', { subject: null }, 'subject'],
  ['a number as subject', { subject: 7 }, 'subject'],
  ['a context of 9 KiB', { context: 'x'.repeat(9_216) }, 'context'],
]
const UNUSABLE: [string, object, string][] = [
  ['no access token', { accessToken: undefined }, 'accessToken is missing'],
  ['an empty access token', { accessToken: '' }, 'accessToken must be visible ASCII'],
  ['a line break in the access token', { accessToken: 'a\r\nb' }, 'accessToken must be visible ASCII'],
  ['a string as lifetime', { accessLifetimeMs: '3600' }, 'accessLifetimeMs must be a number'],
  ['no lifetime', { accessLifetimeMs: undefined, expires_in: 60 }, 'accessLifetimeMs is missing'],
]

describe.each([
  ['a login', false],
  ['credentials', true],
])('given a refresh of %s that returns another refresh token (F345)', (_, mayObtain) => {
  it.each(ODD)(
    'when the response has %s, then its token is used, and the unexpected part is reported',
    async (__, odd, name) => {
      const { clock, source, tokens, observed } = await asleep(mayObtain)
      source.answersWith(odd)
      expect(await tokens.getAccessToken()).toBe('access-2')
      expect(observed.anomaly).toEqual([{ kind: 'unexpected-response', message: expect.stringContaining(name) }])
      await clock.advance(3_500_000)
      expect(await tokens.getAccessToken()).toBe('access-3')
      expect([source.presented, source.isDead, source.kinds]).toEqual([
        ['refresh-1', 'refresh-2'],
        false,
        'refresh refresh',
      ])
    },
  )

  it('when its lifetime is missing, then five minutes are assumed', async () => {
    const { source, tokens } = await asleep(mayObtain)
    source.answersWith({ accessLifetimeMs: -1 })
    await tokens.getAccessToken()
    const { accessExpiresAt = 0 } = tokens.status()
    expect(accessExpiresAt).toBe(Math.round(tokens.status().refreshExpiresAt! - 3_600_000 + 300_000))
  })

  it.each(UNUSABLE)(
    'when the response has %s, then one more exchange of the same renewal presents the new refresh token',
    async (__, odd, message) => {
      const { source, tokens, observed } = await asleep(mayObtain)
      source.answersWith(odd)
      expect(await tokens.getAccessToken()).toBe('access-3')
      expect([source.presented, source.isDead]).toEqual([['refresh-1', 'refresh-2'], false])
      expect(observed.retry).toEqual([
        { attempt: 1, delayMs: 0, error: expect.objectContaining({ message: expect.stringContaining(message) }) },
      ])
      expect([observed.renewalFailed, observed.suspicious, observed.renewed.at(-1)]).toEqual([
        [],
        [],
        expect.objectContaining({ by: 'refresh', attempts: 2 }),
      ])
    },
  )

  it('when the second response is no better, then the error names the member, and the newest refresh token is kept', async () => {
    const { clock, source, tokens } = await asleep(mayObtain)
    source.answersWith({ accessToken: 'a b' })
    source.answersWith({ accessToken: 'a b' })
    expect(await outcome(tokens.getAccessToken())).toMatchObject({
      code: 'ERR_TOKEN_RESPONSE',
      message: expect.stringContaining('accessToken'),
    })
    expect(source.calls).toHaveLength(2)
    await clock.advance(5_000)
    expect(await tokens.getAccessToken()).toBe('access-4')
    expect([source.presented, source.isDead]).toEqual([['refresh-1', 'refresh-2', 'refresh-3'], false])
  })

  it('when only one request is allowed, then the next renewal presents the new refresh token', async () => {
    const { clock, source, tokens } = await asleep(mayObtain, { retry: { maxAttempts: 1 } })
    source.answersWith({ accessToken: 'a b' })
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_TOKEN_RESPONSE' })
    await clock.advance(5_000)
    expect(await tokens.getAccessToken()).toBe('access-3')
    expect([source.presented, source.isDead]).toEqual([['refresh-1', 'refresh-2'], false])
  })

  it('when the old access token is still valid, then requests use it until then, and so does another owner', async () => {
    const store = memoryStore()
    const world = await asleep(mayObtain, { store })
    const { clock, source, tokens } = world
    await tokens.getAccessToken()
    await clock.advance(50_000)
    for (let n = 0; n < 2; n += 1) source.answersWith({ accessToken: 'a b' })
    expect(tokens.peekAccessToken()).toBe('access-2')
    await settle()
    expect(tokens.peekAccessToken()).toBe('access-2')
    const other = manage(source, { store }, clock)
    expect(await other.tokens.getAccessToken()).toBe('access-2')
    await clock.advance(20_000)
    expect(await other.tokens.getAccessToken()).toBe('access-5')
    expect(source.isDead).toBe(false)
  })
})

describe('given a response without another refresh token (F345)', () => {
  it('when an access token is unusable, then the error is as before', async () => {
    const { source, tokens } = await asleep(false, { retry: { maxAttempts: 1 } })
    const observed = listen(tokens)
    for (let n = 0; n < 9; n += 1)
      source.script.push(() => ({ ...source.grant({ accessToken: 'a b' }), refreshToken: 'refresh-1' }))
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ message: expect.stringContaining('accessToken') })
    expect([source.presented, observed.renewed]).toEqual([['refresh-1'], []])
  })
})

describe('given a source of this package that reports an unusable access token (F345)', () => {
  const flaw = new TokenError('ERR_TOKEN_RESPONSE', 'token_type must be Bearer, got mac', { outcome: 'unknown' })
  const flawed = (grant: TokenGrant): DetailedGrant => ({
    ...grant,
    accessToken: '',
    accessLifetimeMs: 0,
    [GRANT_DETAILS]: { flaw },
  })

  it('when the response has another refresh token, then that one is stored and presented', async () => {
    const { source, tokens, observed } = await asleep()
    source.script.push(() => flawed(source.grant()))
    expect(await tokens.getAccessToken()).toBe('access-3')
    expect([source.presented, observed.retry.map(({ error }) => error.message)]).toEqual([
      ['refresh-1', 'refresh-2'],
      [flaw.message],
    ])
  })

  it('when an obtain reports it, then the exchange fails with its error', async () => {
    const source = new ScriptedSource()
    source.script.push(() => flawed(source.grant()))
    const { tokens, observed } = manage(source, { retry: { maxAttempts: 1 } })
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ message: flaw.message })
    expect(observed.renewed).toEqual([])
  })
})
