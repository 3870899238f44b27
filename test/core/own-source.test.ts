import { describe, expect, it } from '@jest/globals'
import { AxiosError, AxiosHeaders, type InternalAxiosRequestConfig } from 'axios'
import { TokenError, type TokenGrant, type TokenManager } from '../../src/index.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'

function axiosAnswer(status: number, data: unknown = {}, headers = {}): AxiosError {
  const config = { headers: new AxiosHeaders() } as InternalAxiosRequestConfig
  return new AxiosError('m', 'ERR', config, {}, { status, statusText: '', data, headers, config })
}
const throwing = (thrown: unknown) => () => {
  throw thrown as Error
}

/** A manager with a token set that is due, and a function that lets its refresh throw. */
async function holdingPair() {
  const world = manage(new ScriptedSource({ pairs: true }), { renewal: { keepWarm: 'never' } })
  const { clock, source, tokens } = world
  await tokens.getAccessToken()
  await clock.advance(50_000)
  source.calls.length = 0
  const refreshFails = async (thrown: unknown): Promise<void> => {
    source.script.push(throwing(thrown))
    tokens.peekAccessToken()
    await clock.advance(1_000)
  }
  return { ...world, refreshFails }
}

describe('given a custom source that throws what its HTTP client throws (F154)', () => {
  it('when the password is wrong, then there is one login, and one a minute from then on', async () => {
    const { clock, source, tokens } = manage()
    for (let n = 0; n < 9; n += 1) source.script.push(throwing(axiosAnswer(401)))
    for (let second = 0; second < 120; second += 1) {
      expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', status: 401 })
      await clock.advance(1_000)
    }
    expect(source.calls).toHaveLength(2)
  })

  it('when the service asks for a pause, then the manager waits', async () => {
    const { clock, source, tokens } = manage()
    source.script.push(throwing(axiosAnswer(429, '', { 'retry-after': '9' })))
    const waiting = tokens.getAccessToken()
    await clock.advance(8_999)
    expect(source.calls).toHaveLength(1)
    await clock.advance(1)
    expect(await waiting).toBe('access-1')
  })

  it.each<[string, unknown]>([
    ['the connection is refused', Object.assign(new Error('m'), { code: 'ECONNREFUSED' })],
    ['the connection is refused under fetch', new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })],
    ['it is throttled', axiosAnswer(429)],
  ])('when %s, then the refresh token stays usable', async (_, thrown) => {
    const { source, observed, refreshFails } = await holdingPair()
    await refreshFails(thrown)
    expect(source.calls.map((call) => call.refreshToken)).toEqual(['refresh-1', 'refresh-1'])
    expect(observed.suspicious).toEqual([])
  })

  it.each<[string, unknown, string, unknown[]]>([
    ['400', axiosAnswer(400), 'refresh obtain', []],
    ['401', axiosAnswer(401), 'refresh obtain', ['unexplained']],
    ['403', axiosAnswer(403), 'refresh obtain', []],
    ['invalid_grant under 400', axiosAnswer(400, { error: 'invalid_grant' }), 'refresh obtain', ['unexplained']],
    ['invalid_client under 401', axiosAnswer(401, { error: 'invalid_client' }), 'refresh', []],
  ])('when the response to a refresh is %s, then its content decides', async (_, thrown, kinds, evidence) => {
    const { source, observed, refreshFails } = await holdingPair()
    await refreshFails(thrown)
    expect([source.kinds, observed.suspicious.map((event) => event.evidence)]).toEqual([kinds, evidence])
  })

  it('when the error states what became of the refresh token, then its status does not decide', async () => {
    const { source, observed, refreshFails } = await holdingPair()
    await refreshFails(new TokenError('ERR_REFRESH_REJECTED', 'm', { status: 401, refreshToken: 'unusable' }))
    expect([source.kinds, observed.suspicious]).toEqual(['refresh obtain', []])
  })
})

describe('given a custom source with a bug (F155)', () => {
  it.each<[string, () => TokenGrant, RegExp]>([
    ['throws a TypeError', throwing(new TypeError('hidden-value')), /obtain threw a TypeError; see cause\.stack/],
    [
      'returns the raw response of the service',
      () => ({ access_token: 'hidden-value' }) as never,
      /accessToken is missing; did you mean access_token\?$/,
    ],
    ['returns nothing', () => undefined as never, /got undefined/],
  ])('when it %s, then all callers are rejected at once, and it is not called again', async (_, answer, message) => {
    const { clock, source, tokens } = manage()
    source.script.push(answer)
    const errors = await Promise.all([1, 2, 3].map(() => outcome(tokens.getAccessToken())))
    for (const error of errors)
      expect(error).toMatchObject({
        code: 'ERR_TOKEN_SOURCE',
        retryable: false,
        message: expect.stringMatching(message),
      })
    await clock.advance(4_999)
    expect(source.calls).toHaveLength(1)
  })

  it('when only its refresh has a bug, then the refresh token is discarded, and an obtain is used', async () => {
    const { source, tokens, observed, refreshFails } = await holdingPair()
    await refreshFails(new TypeError('m'))
    expect([source.kinds, await tokens.getAccessToken()]).toEqual(['refresh obtain', 'access-2'])
    expect(observed.suspicious).toEqual([])
  })

  it('when an object that it throws cannot be read, then renewals continue as after any failure (F171)', async () => {
    const { clock, source, tokens } = manage()
    const hostile = {
      get code(): string {
        throw new Error('hidden-value')
      },
      get message(): string {
        throw new Error('hidden-value')
      },
    }
    source.script.push(throwing(hostile))
    const waiting = tokens.getAccessToken()
    await clock.advance(250)
    expect(await waiting).toBe('access-1')
  })
})

describe('given a TokenError of a custom source whose Retry-After is not a duration (F153)', () => {
  it.each([NaN, Infinity, -1])(
    'when it is %d, then pauses and cool-downs are those of any outage',
    async (retryAfterMs) => {
      const { clock, source, tokens } = manage()
      for (let n = 0; n < 99; n += 1)
        source.script.push(throwing(new TokenError('ERR_THROTTLED', 'm', { outcome: 'deferred', retryAfterMs })))
      for (let second = 0; second < 8; second += 1) {
        void outcome(tokens.getAccessToken())
        await clock.advance(1_000)
      }
      // A cool-down of 5 s follows.
      expect(source.calls.map((call) => call.at)).toEqual([0, 500, 1_500, 3_500])
    },
  )
})

describe('given a TokenError of another copy of the package, which checks less (F153)', () => {
  it.each<[string, unknown]>([
    ['NaN', NaN],
    ['a bigint', 5n],
    ['text', '5'],
  ])('when its Retry-After is %s, then it has none', async (_, retryAfterMs) => {
    const { clock, source, tokens } = manage(undefined, { retry: { maxAttempts: 1 } })
    const error = new TokenError('ERR_THROTTLED', 'm', { outcome: 'deferred' })
    source.script.push(throwing(Object.defineProperty(error, 'retryAfterMs', { value: retryAfterMs })))
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_THROTTLED' })
    expect(tokens.status()).toMatchObject({ phase: 'cooling-down', nextAttemptAt: clock.wallNow() + 5_000 })
  })
})

describe('given a random function that is broken (F172)', () => {
  it.each([NaN, 1, -0.1, 2, Infinity, undefined, null, '0.5', {}])(
    'when it returns %p, then that is reported once',
    async (drawn) => {
      const clock = watchedClock()
      const { source, tokens } = manage(new ScriptedSource(), { random: () => drawn as number }, clock)
      expect(await outcome(tokens.getAccessToken())).toMatchObject({
        code: 'ERR_TOKEN_SOURCE',
        retryable: false,
        message: expect.stringMatching(/^random must return a number from 0 to less than 1, got /),
        cause: { name: 'RangeError' },
      })
      await clock.advance(10_000)
      expect(await tokens.getAccessToken()).toBe('access-1')
      clock.delays.length = 0
      await clock.advance(600_000)
      expect([source.calls.length, clock.delays.length < 10]).toEqual([2, true])
    },
  )

  it.each([0, 0.999_999])('when it returns %d, then that value applies', async (drawn) => {
    const { tokens } = manage(new ScriptedSource(), { random: () => drawn })
    expect(await tokens.getAccessToken()).toBe('access-1')
  })

  it('when it throws, then nothing is lost', async () => {
    const random = () => {
      throw new Error('hidden-value')
    }
    const { clock, tokens } = manage(new ScriptedSource({ pairs: true }), { random })
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_TOKEN_SOURCE' })
    await clock.advance(10_000)
    expect(await tokens.getAccessToken()).toBe('access-1')
  })
})

describe('given callers with the same failure (F192)', () => {
  const failed = async () => {
    const world = manage()
    world.source.script.push(throwing(axiosAnswer(400)))
    return world
  }
  async function theCaller(tokens: { getAccessToken: () => Promise<string> }) {
    return outcome(tokens.getAccessToken())
  }

  it('when they wait, or arrive in the cool-down, then each has an error of its own', async () => {
    const { tokens } = await failed()
    const errors = await Promise.all([theCaller(tokens), theCaller(tokens)])
    errors.push(await theCaller(tokens), await theCaller(tokens))
    expect(new Set(errors).size).toBe(4)
    for (const error of errors) expect(error).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', status: 400 })
  })

  it.each<[string, (tokens: TokenManager) => Promise<unknown>]>([
    ['getAccessToken', (tokens) => tokens.getAccessToken()],
    ['replaceAccessToken', (tokens) => tokens.replaceAccessToken('another')],
    ['renew', (tokens) => tokens.renew()],
  ])('when they called %s, then its stack begins where they did', async (_, call) => {
    const { tokens } = await failed()
    for (const at of ['waiting', 'cooling down']) {
      async function theCallerItself(): Promise<unknown> {
        try {
          return await call(tokens)
        } catch (error) {
          return error
        }
      }
      const { stack = '' } = (await theCallerItself()) as Error
      const frames = stack.split('\n').filter((line) => line.startsWith('    at '))
      expect([at, frames[0]]).toEqual([at, expect.stringContaining('own-source.test.ts')])
    }
    await settle()
  })
})
