import { randomUUID } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { createTokenManager } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { fromTokenResponse } from '../../src/oauth2/index.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { listen, outcome } from '../support/managed.ts'
import { answering } from '../service/world.ts'
import { GRANT, sourceBehind } from './world.ts'

type Answer = readonly [status: number, body: object | string]

/** A server that rotates, and ends the login that presents a refresh token twice. @param odd Responses to the first refreshes. */
async function strictLogin(odd: readonly ((next: string) => Answer)[], options: Partial<OAuth2Options> = {}) {
  const sent: URLSearchParams[] = []
  const presented: string[] = []
  const answerTo = (body: URLSearchParams): Answer => {
    const token = body.get('refresh_token') ?? ''
    const scopes = (body.get('scope') ?? '').split(' ')
    if (presented.includes(token)) return [400, { error: 'invalid_grant' }]
    if (scopes.includes('calendar')) return [400, { error: 'invalid_scope' }]
    presented.push(token)
    const next = `refresh-${presented.length}`
    return odd[presented.length - 1]?.(next) ?? [200, { ...GRANT, refresh_token: next }]
  }
  const source = sourceBehind(
    (config) => {
      const body = new URLSearchParams(String(config.data))
      sent.push(body)
      const [status, answer] = answerTo(body)
      return answering(typeof answer === 'string' ? answer : JSON.stringify(answer), status)(config)
    },
    { grant: 'login', account: randomUUID(), ...options },
  )
  const clock = manualClock()
  const tokens = createTokenManager({ source, clock, random: () => 0, renewal: { keepWarm: 'never' } })
  const told = listen(tokens, ['anomaly', 'suspicious', 'renewalFailed'])
  /** A token, if one arrives within a minute. */
  const asked = async () => {
    const pending = outcome(tokens.getAccessToken())
    await clock.advance(20_000)
    const end = await pending
    return typeof end === 'string' ? end : `${end.code} ${end.message}`
  }
  return { tokens, clock, told, sent, presented, asked }
}

const started = async (...given: Parameters<typeof strictLogin>) => {
  const login = await strictLogin(...given)
  await login.tokens.adopt({ refreshToken: 'refresh-0' })
  return login
}

describe('given a refresh of a login whose response has another refresh token, and an unexpected lifetime (F345)', () => {
  it.each([0, -1, '', '0', '1h', '3600.0', {}, [], '9e1'])(
    'when expires_in is %j, then its access token is used, and the old refresh token is never presented again',
    async (expires_in) => {
      const { asked, presented, told, clock } = await started([
        (next) => [200, { ...GRANT, expires_in, refresh_token: next }],
      ])
      expect(await asked()).toBe('issued-token')
      expect(told.anomaly.map(({ kind }) => kind)).toEqual(['unexpected-response'])
      await clock.advance(4_000_000)
      expect(await asked()).toBe('issued-token')
      expect(presented).toEqual(['refresh-0', 'refresh-1'])
      expect(told.suspicious).toEqual([])
    },
  )

  it('when the lifetime is missing, then defaultLifetimeMs applies', async () => {
    const zero = (next: string): Answer => [200, { ...GRANT, expires_in: 0, refresh_token: next }]
    const { asked, tokens, clock, told } = await started([zero], { defaultLifetimeMs: 120_000 })
    await asked()
    expect(tokens.status().accessExpiresAt).toBe(clock.wallNow() - 20_000 + 120_000)
    expect(told.anomaly[0]!.message).toContain('has no lifetime in expires_in: 120000 ms are assumed')
  })
})

describe('given a refresh of a login whose response has another refresh token, and no usable access token (F345)', () => {
  const form = (next: string) => `access_token=hidden-value&token_type=bearer&refresh_token=${next}`

  it.each<[string, (next: string) => Answer]>([
    ['another token_type', (next) => [200, { ...GRANT, token_type: 'mac', refresh_token: next }]],
    ['no access_token', (next) => [200, { expires_in: 60, token_type: 'Bearer', refresh_token: next }]],
    ['a number as access_token', (next) => [200, { ...GRANT, access_token: 5, refresh_token: next }]],
    ['a line break in it', (next) => [200, { ...GRANT, access_token: 'hidden-\nvalue', refresh_token: next }]],
    ['an error beside it', (next) => [200, { ...GRANT, error: 'warning', refresh_token: next }]],
    ['an error of several words', (next) => [200, { ...GRANT, error: 'A warning.', refresh_token: next }]],
    ['a form', (next) => [200, form(next)]],
  ])('when it has %s, then one more exchange presents the new one', async (_, odd) => {
    const { asked, presented, told } = await started([odd])
    expect(await asked()).toBe('issued-token')
    expect(presented).toEqual(['refresh-0', 'refresh-1'])
    expect([told.suspicious, told.renewalFailed]).toEqual([[], []])
  })

  it('when that repeats, then the error names the member, and the login stays', async () => {
    const odd = (next: string): Answer => [200, { ...GRANT, token_type: 'mac', refresh_token: next }]
    const { asked, presented, tokens } = await started(Array.from({ length: 9 }, () => odd))
    expect(await asked()).toMatch(/^ERR_TOKEN_RESPONSE .*token_type must be Bearer, got mac/)
    expect((tokens as LoginManager).status().login).toBe('present')
    expect(new Set(presented).size).toBe(presented.length)
  })
})

describe('given a user who has granted less than the requested scope (F346)', () => {
  const options = { scope: 'mail calendar' }

  it('when the server rejects a refresh with invalid_scope, then the same exchange repeats it without scope, and so do all later ones', async () => {
    const { asked, sent, presented, told, clock, tokens } = await strictLogin([], options)
    await tokens.adopt(fromTokenResponse({ ...GRANT, scope: 'mail', refresh_token: 'refresh-0', expires_in: 0 }))
    expect(await asked()).toBe('issued-token')
    expect(sent.map((body) => body.get('scope'))).toEqual(['mail calendar', null])
    await clock.advance(4_000_000)
    expect(await asked()).toBe('issued-token')
    expect(sent.map((body) => body.get('scope'))).toEqual(['mail calendar', null, null])
    expect(presented).toEqual(['refresh-0', 'refresh-1'])
    expect(told.anomaly.filter(({ message }) => message.includes('invalid_scope'))).toHaveLength(1)
    expect([told.suspicious, told.renewalFailed, tokens.status().counts.failures]).toEqual([[], [], 0])
  })

  it('when the server rejects the refresh without scope too, then each is sent once, and one anomaly reports both (F427)', async () => {
    const refused = (): Answer => [400, { error: 'invalid_scope' }]
    const { asked, sent, told } = await started([refused], options)
    await asked()
    expect(sent.slice(0, 2).map((body) => body.get('scope'))).toEqual(['mail calendar', null])
    expect(told.anomaly.map(({ message }) => message)).toEqual([
      expect.stringContaining('rejects a refresh without scope'),
    ])
  })
})
