import { describe, expect, it } from '@jest/globals'
import type { ErrorMeaning, OAuth2Options } from '../../src/oauth2/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { createTokenManager } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { answering } from '../service/world.ts'
import { type Answer, loginAt } from './login-at.ts'
import { sourceBehind } from './world.ts'

describe('given the refresh of a login, and rejections with unknown error codes (F277)', () => {
  it('when the error codes differ, then they do not add up, although no message shows them', async () => {
    const { asking, tokens } = await loginAt((n) => [400, { error: `secret-word-${n % 2}` }])
    expect(await asking(25)).toEqual(['ERR_CREDENTIALS_REJECTED'])
    expect(JSON.stringify([tokens.status(), tokens.status().lastError])).not.toContain('secret-word')
  })

  it('when the error code is the same, and its other values change each time, then the login is discarded after ten minutes', async () => {
    const { asking, tokens, told } = await loginAt((n) => [400, { error: 'odd', request_id: `id ${n}`, at: n }])
    expect(await asking(10)).toEqual(['ERR_CREDENTIALS_REJECTED'])
    expect(await asking(2)).toContain('ERR_LOGIN_REQUIRED')
    expect(tokens.status().loginReason).toBe('refused')
    expect(told.suspicious).toEqual([])
  })

  it('when the names of the members differ, then they do not add up', async () => {
    const { asking } = await loginAt((n) => [400, n % 2 === 0 ? { message: 'no' } : { message: 'no', hint: 'no' }])
    expect(await asking(25)).toEqual(['ERR_CREDENTIALS_REJECTED'])
  })

  it('when a string changes each time, then it is the same error code', async () => {
    const { asking } = await loginAt((n) => [400, { error: `Request ${n} was refused` }])
    expect(await asking(12)).toContain('ERR_LOGIN_REQUIRED')
  })

  it('when the record is stored, then it has a fingerprint, and not the error code', async () => {
    const register = new MemoryRegister()
    const { asking } = await loginAt(() => [400, { error: 'secret-word' }], {}, sharedStore(register))
    await asking(2)
    const text = [...register.values.values()].map(({ value }) => value).join()
    expect(text).toContain('unclear')
    expect(text).not.toContain('secret-word')
  })
})

describe('given the refresh of a login, and an error under 200 in JSON without a token (F288)', () => {
  it('when it comes for ten minutes, then a login is required', async () => {
    const { asking, tokens, told } = await loginAt((n) => [200, { errcode: 40_030, request_id: `id ${n}` }])
    expect(await asking(9)).toEqual(['ERR_TOKEN_RESPONSE'])
    expect(tokens.status().login).toBe('present')
    expect(await asking(3)).toContain('ERR_LOGIN_REQUIRED')
    expect(tokens.status().loginReason).toBe('refused')
    expect(told.suspicious).toEqual([])
  })

  it('when the service issues tokens again before, then the login is kept', async () => {
    const grant = { access_token: 'issued-token', token_type: 'Bearer', expires_in: 3_600, refresh_token: 'next' }
    const { asking } = await loginAt((n) => [200, n < 8 ? { errcode: -1 } : grant])
    expect(await asking(12)).toEqual(['ERR_TOKEN_RESPONSE', 'issued-token'])
  })

  it.each<[string, (n: number) => Answer]>([
    ['is a page, as from a portal,', () => [200, '<html>']],
    ['has another code each time', (n) => [200, { code: n }]],
  ])('when it %s, then the login is kept', async (_, answer) => {
    const { asking, tokens } = await loginAt(answer)
    expect(await asking(25)).toEqual(['ERR_TOKEN_RESPONSE'])
    expect(tokens.status().login).toBe('present')
  })

  it('when the refresh token is reusable, then it counts as well', async () => {
    const { asking } = await loginAt(() => [200, { errcode: 40_030 }], { refreshTokens: 'reusable' })
    expect(await asking(12)).toContain('ERR_LOGIN_REQUIRED')
  })
})

describe('given errors under 200 (F373)', () => {
  it.each<[string, (n: number) => object]>([
    ['errcode', (n) => ({ errcode: 40_001 + (n % 2) })],
    ['a code one level deeper', (n) => ({ result: { err: n % 2 === 0 ? 'LOCKED' : 'BUSY' } })],
    ['a code in an array', (n) => ({ faults: [{ no: n % 3 }] })],
    ['ret', (n) => ({ ret: -(n % 2), msg: 'failed' })],
  ])('when %s differs between responses, then they do not add up', async (_, body) => {
    const { asking, tokens } = await loginAt((n) => [200, body(n)])
    expect(await asking(25)).toEqual(['ERR_TOKEN_RESPONSE'])
    expect(tokens.status().login).toBe('present')
  })

  it.each<[string, (n: number) => object]>([
    ['requestId', (n) => ({ errcode: 40_030, requestId: n })],
    ['log_id', (n) => ({ errcode: 40_030, log_id: n })],
    ['timestamp', (n) => ({ errcode: 40_030, timestamp: 1_795_699_533 + n })],
    ['fbtrace_id', (n) => ({ result: { errcode: 40_030, fbtrace_id: `A${n}` } })],
    ['x-trace', (n) => ({ errcode: 40_030, 'x-trace': { span: n } })],
    ['a member with an instant', (n) => ({ errcode: 40_030, now: 1_795_699_533_000 + n })],
    ['a member with a random string', (n) => ({ errcode: 40_030, ref: `c0ffee00c0ffee00c0ffee${n}` })],
  ])('when %s differs, and the code does not, then the login is discarded after ten minutes', async (_, body) => {
    const { asking } = await loginAt((n) => [200, body(n)])
    expect(await asking(12)).toContain('ERR_LOGIN_REQUIRED')
  })

  it('when the response is thousands of arrays deep, then it is read anyway', async () => {
    const { asking } = await loginAt(() => [200, `{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}`])
    expect(await asking(12)).toContain('ERR_LOGIN_REQUIRED')
  })
})

describe('given the option errors', () => {
  const refused = async (answer: Answer, errors: OAuth2Options['errors']) => {
    const { asking, told } = await loginAt(() => answer, { errors })
    return { codes: await asking(1), anomalies: told.anomaly.map(({ kind }) => kind) }
  }

  it.each<[string, Answer, NonNullable<OAuth2Options['errors']>]>([
    ['a value of error_code', [400, { error_code: 'gone' }], { gone: 'invalid_grant' }],
    ['a number of code under 200', [200, { code: 20_037 }], { 20037: 'invalid_grant' }],
    ['a value of errors[]', [400, { errors: [{ errorType: 'gone' }] }], { gone: 'invalid_grant' }],
    ['a value of an error that is an object', [400, { error: { type: 'gone' } }], { gone: 'invalid_grant' }],
    ['a value beside a known one', [400, { error: 'invalid_client', code: 'gone' }], { gone: 'invalid_grant' }],
  ])('when it defines %s, then that counts (F287)', async (_, answer, errors) => {
    expect((await refused(answer, errors)).codes).toEqual(['ERR_LOGIN_REQUIRED'])
  })

  it('when it is a function, then it receives the whole response, before the table (F287)', async () => {
    const asked: unknown[] = []
    const judge = (answer: {
      status: number
      members: Readonly<Record<string, unknown>>
    }): ErrorMeaning | undefined => {
      asked.push([answer.status, { ...answer.members }])
      return answer.members.errcode === 40_030 ? 'invalid_grant' : undefined
    }
    expect((await refused([200, { errcode: 40_030 }], judge)).codes).toEqual(['ERR_LOGIN_REQUIRED'])
    expect((await refused([400, { error: 'invalid_client', errcode: 40_030 }], judge)).codes).toEqual([
      'ERR_LOGIN_REQUIRED',
    ])
    expect((await refused([500, { errcode: 40_030 }], judge)).codes).toEqual(['ERR_LOGIN_REQUIRED'])
    expect((await refused([400, { error: 'invalid_grant' }], judge)).codes).toEqual(['ERR_LOGIN_REQUIRED'])
    expect((await refused([403, '<html>'], judge)).codes).toEqual(['ERR_TOKEN_REQUEST'])
    expect(asked).toEqual([
      [200, { errcode: 40_030 }],
      [400, { error: 'invalid_client', errcode: 40_030 }],
      [500, { errcode: 40_030 }],
      [400, { error: 'invalid_grant' }],
      [403, {}],
    ])
  })

  it('when the response has tokens, then the function is not called', async () => {
    const judge = () => {
      throw new Error('asked')
    }
    const grant = { access_token: 'issued-token', token_type: 'Bearer', expires_in: 3_600 }
    expect(await refused([200, grant], judge)).toEqual({ codes: ['issued-token'], anomalies: [] })
  })

  it.each<[string, () => unknown, string]>([
    ['throws', () => fail('refresh-of-nobody'), 'threw'],
    ['returns an unknown error code', () => 'refresh-of-nobody', 'returned an unknown error code'],
    ['returns a promise', () => Promise.reject(new Error('refresh-of-nobody')), 'returned an unknown error code'],
  ])('when the function %s, then the table decides, and an anomaly reports it', async (_, judge, what) => {
    const { asking, told } = await loginAt(() => [400, { error: 'invalid_client' }], { errors: judge as never })
    expect(await asking(1)).toEqual(['ERR_CREDENTIALS_REJECTED'])
    expect(told.anomaly.map(({ kind }) => kind)).toEqual(['unexpected-response'])
    expect(told.anomaly[0]!.message).toContain(`The function errors of oauth2 ${what}`)
    expect(JSON.stringify(told.anomaly)).not.toContain('of-nobody')
  })
})

function fail(secret: string): never {
  throw new Error(secret)
}

it('given a polluted Object.prototype, when an error response has a code of the same name, then the message does not show it (F365)', async () => {
  const pollution = Object.prototype as { invalid_grant?: string }
  const source = sourceBehind(answering('{"error":"invalid_grant"}', 400))
  pollution.invalid_grant = 'secret-word'
  try {
    const failure: unknown = await outcome(createTokenManager({ source, clock: manualClock() }).getAccessToken())
    expect((failure as Error).message).toMatch(/responded with 400: invalid_grant: (?!secret-word)/)
  } finally {
    delete pollution.invalid_grant
  }
})
