import { describe, expect, it } from '@jest/globals'
import { createTokenManager, TokenError } from '../../src/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { watchedClock } from '../support/watched-clock.ts'
import { answering, failureOf } from '../service/world.ts'
import { client, exchanged, GRANT, sentBy, sourceBehind } from './world.ts'
import { person } from '../../src/login/index.ts'

const bearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const behind = (answer: unknown, options: Partial<OAuth2Options> = {}) =>
  sourceBehind(answering(JSON.stringify(answer)), options)

describe('given a grant that is a function', () => {
  it('when tokens are obtained, then it is called each time, and its parameters are sent before all others', async () => {
    const assertions = ['first', 'second']
    const options: Partial<OAuth2Options> = {
      grant: async () => ({ grant_type: bearer, assertion: assertions.shift()!, audience: 'mine' }),
      parameters: { audience: 'theirs', tenant: 't' },
      scope: 'read',
    }
    expect((await sentBy(options)).body).toBe(
      `grant_type=${encodeURIComponent(bearer)}&assertion=first&audience=mine&tenant=t&scope=read`,
    )
    expect((await sentBy(options)).body).toContain('assertion=second')
    expect((await sentBy({ ...options, grant: () => ({ grant_type: bearer, scope: 'write' }) })).body).toContain(
      'scope=write',
    )
  })

  it('when there is no secret, then the client is a public one (RFC 8693, section 2.1)', async () => {
    const { body, headers } = await sentBy({ grant: () => ({ grant_type: bearer }), clientSecret: undefined })
    expect(body).toBe(`grant_type=${encodeURIComponent(bearer)}&client_id=client-of-nobody`)
    expect(headers).not.toHaveProperty('Authorization')
  })

  it('when the response has a refresh token, then that is dropped: the source can obtain', async () => {
    const source = behind({ ...GRANT, refresh_token: 'hidden' }, { grant: () => ({ grant_type: bearer }) })
    expect(source.login).toBeUndefined()
    expect((await exchanged(source)).grant).not.toHaveProperty('refreshToken')
  })

  it.each([
    ['nothing', undefined, 'the parameters must be an object, got undefined'],
    ['no grant_type', { assertion: 'hidden-value' }, 'grant_type must be a string, got undefined'],
    ['a number', { grant_type: bearer, assertion: 5 }, 'assertion must be a string, got number'],
  ])('when it returns %s, then nothing is sent, and the error names the function', async (_, given, message) => {
    const error = await failureOf(exchanged(behind(GRANT, { grant: () => given as never })))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE', outcome: 'not-sent' })
    expect(error.message).toBe(`The grant function returned an unusable value: ${message}`)
  })

  it('when it returns the grant of a refresh token, then nothing is sent, and the error states the alternative (F378)', async () => {
    let calls = 0
    const grant = () => ({ grant_type: 'refresh_token', refresh_token: 'hidden-value' })
    const source = sourceBehind(
      (config) => {
        calls += 1
        return answering(JSON.stringify(GRANT))(config)
      },
      { grant },
    )
    const error = await failureOf(exchanged(source))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE', outcome: 'not-sent', cause: { name: 'TypeError' } })
    expect(error.message).toContain("use grant: 'login' and adopt()")
    expect(JSON.stringify([error, error.message])).not.toContain('hidden-value')
    expect(calls).toBe(0)
  })

  it('when it calls another manager, then the error of that one counts, but not its verdict on a refresh token (F255)', async () => {
    const thrown = new TokenError('ERR_LOGIN_REQUIRED', 'log in', { refreshToken: 'refused', loginReason: 'refused' })
    const error = await failureOf(exchanged(behind(GRANT, { grant: () => Promise.reject(thrown) })))
    expect(error).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', outcome: 'not-sent', refreshToken: 'kept' })
    expect(error.loginReason).toBeUndefined()
  })
})

describe('given a function that never settles (F255)', () => {
  const never = () => new Promise<never>(() => undefined)

  it.each<[string, Partial<OAuth2Options>]>([
    ['clientSecret', { clientSecret: never }],
    ['clientAuthentication', { clientSecret: undefined, clientAuthentication: never }],
    ['grant', { grant: never }],
  ])('when %s hangs until the deadline, then nothing was sent, and the error names it', async (name, options) => {
    const clock = watchedClock()
    const tokens = createTokenManager({
      source: behind(GRANT, options),
      clock,
      exchangeTimeoutMs: 700,
      retry: { maxAttempts: 1 },
    })
    const failure = failureOf(tokens.getAccessToken())
    await clock.advance(700)
    const error = await failure
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent' })
    expect(error.message).toContain(`The ${name} function returned nothing within 700 ms: no token request was sent`)
    await tokens.close()
  })

  it('when the secret hangs in the refresh of a login, then its refresh token is presented later', async () => {
    const clock = watchedClock()
    const presented: unknown[] = []
    let hangs = true
    const source = sourceBehind(
      (config) => {
        presented.push(new URLSearchParams(String(config.data)).get('refresh_token'))
        return answering(JSON.stringify(GRANT))(config)
      },
      { grant: 'login', clientSecret: () => (hangs ? never() : client.clientSecret) },
    )
    const tokens = createTokenManager({
      source,
      clock,
      random: () => 0,
      exchangeTimeoutMs: 700,
      retry: { maxAttempts: 1 },
    })
    await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' })
    const failure = failureOf(tokens.renew())
    await clock.advance(700)
    expect(await failure).toMatchObject({ outcome: 'not-sent' })
    hangs = false
    await clock.advance(10_000)
    await tokens.renew()
    expect(presented).toEqual(['r'])
    await tokens.close()
  })
})

describe('given an accepted response', () => {
  it('when onAnswer is given, then it receives a frozen copy of the members before the tokens are used, and its exceptions are ignored', async () => {
    const told: Readonly<Record<string, unknown>>[] = []
    const onAnswer = (members: Readonly<Record<string, unknown>>) => {
      told.push(members)
      throw new Error('of onAnswer')
    }
    const answer = { ...GRANT, instance_url: 'https://one.example' }
    expect((await exchanged(behind(answer, { onAnswer }))).grant.accessToken).toBe('issued-token')
    const late: unknown = async () => onAnswer({})
    await exchanged(behind(answer, { onAnswer: late as typeof onAnswer }))
    expect(Object.isFrozen(told[0])).toBe(true)
    expect(Object.getPrototypeOf(told[0])).toBeNull()
    expect({ ...told[0] }).toEqual(answer)
    const rejected = exchanged(behind({ ...answer, access_token: 5 }, { onAnswer }))
    await failureOf(rejected)
    expect(told).toHaveLength(2)
  })

  it.each([
    ['its sub is the subject', { sub: 'user-ü' }, 'user-ü'],
    // In base64url this text has both characters that base64 does not have: - and _.
    ['its characters are those of base64url', { sub: '>>>???' }, '>>>???'],
    ['a sub that is not a string is ignored', { sub: 5 }, undefined],
    ['without a sub there is none', {}, undefined],
  ])('when it has an id_token, then %s', async (_, claims, subject) => {
    const id_token = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.unsigned`
    const source = behind({ ...GRANT, id_token, refresh_token: 'next' }, { grant: 'login' })
    const context = { signal: new AbortController().signal, clock: watchedClock() }
    expect((await source.refresh!('r', context)).subject).toBe(subject)
  })

  it.each(['', 'not a JWT', 'a.%%%.c', 'a.bm9uZQ.c', 5])(
    'when its id_token is %j, then there is no subject',
    async (id_token) => {
      const source = behind({ ...GRANT, id_token })
      const context = { signal: new AbortController().signal, clock: watchedClock() }
      expect(await source.obtain(context)).not.toHaveProperty('subject')
    },
  )
})

describe('given a source', () => {
  it('when its grant is a login, then it requires one', () => {
    const source = (grant: OAuth2Options['grant']) => oauth2({ issuer: 'https://login.example', ...client, grant })
    expect(source('login').login).toBe(person)
    expect(source('client_credentials').login).toBeUndefined()
  })
})
