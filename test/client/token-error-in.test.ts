import { describe, expect, it, jest } from '@jest/globals'
import { AxiosError } from 'axios'
import type * as Errors from '../../src/core/errors.ts'
import { isLoginRequired, isTokenError, TokenError, tokenErrorIn } from '../../src/index.ts'

/** A second copy of the module. */
function otherCopy(): typeof Errors {
  let copy: typeof Errors | undefined
  jest.isolateModules(() => {
    copy = jest.requireActual<typeof Errors>('../../src/core/errors.ts')
  })
  return copy!
}

const loginRequired = () => new TokenError('ERR_LOGIN_REQUIRED', 'log in')
const wrapped = (member: string, error: unknown) => Object.assign(new Error('Connection error.'), { [member]: error })
/** That many wrappers around it. */
const deep = (wrappers: number, error: unknown): unknown =>
  wrappers === 0 ? error : wrapped(['cause', 'detail', 'original'][wrappers % 3]!, deep(wrappers - 1, error))

describe('given a client that wraps what its fetch rejects with (F379)', () => {
  it.each(['cause', 'detail', 'original'])('when it keeps the error in %s, then each query finds it (F379)', (name) => {
    const [reported, error] = [loginRequired(), wrapped(name, undefined)]
    Object.assign(error, { [name]: reported })
    expect(tokenErrorIn(error)).toBe(reported)
    expect([isTokenError(error), isTokenError(error, 'ERR_LOGIN_REQUIRED'), isLoginRequired(error)]).toEqual([
      true,
      true,
      true,
    ])
    expect(isTokenError(error, 'ERR_THROTTLED')).toBe(false)
    expect(error).not.toBeInstanceOf(TokenError)
  })

  it('when it belongs to another copy of the package, then it is found too (F379)', () => {
    const reported = new (otherCopy().TokenError)('ERR_LOGIN_REQUIRED', 'log in')
    expect(tokenErrorIn(wrapped('cause', reported))).toBe(reported)
    expect(isLoginRequired(wrapped('cause', reported))).toBe(true)
  })

  it('when it is nested four deep, then it is found, and no deeper (F379)', () => {
    const reported = loginRequired()
    const found = [0, 1, 2, 3, 4, 5].map((wrappers) => tokenErrorIn(deep(wrappers, reported)))
    expect(found).toEqual([reported, reported, reported, reported, reported, undefined])
    expect(
      [deep(4, reported), deep(5, reported)].map((error) => [isTokenError(error), isLoginRequired(error)]),
    ).toEqual([
      [true, true],
      [false, false],
    ])
  })

  it('when there are two, then the outermost decides, in whatever member (F379)', () => {
    const outer = new TokenError('ERR_WAIT_TIMEOUT', 'late', { cause: loginRequired() })
    for (const error of [outer, wrapped('original', outer), { cause: { cause: loginRequired() }, detail: outer }])
      expect([tokenErrorIn(error), isLoginRequired(error), isTokenError(error, 'ERR_WAIT_TIMEOUT')]).toEqual([
        outer,
        false,
        true,
      ])
  })

  it('when the client has a status of its own beside it, then the TokenError decides (F379)', () => {
    const tokens = { status: () => ({ login: 'required' }) as never }
    const error = Object.assign(wrapped('cause', new TokenError('ERR_THROTTLED', 'later')), { status: 401 })
    expect(isLoginRequired(error, tokens)).toBe(false)
  })
})

describe('given an error without a TokenError behind it (F379)', () => {
  const circle: { cause?: unknown } = new Error('round')
  circle.cause = circle
  const unreadable = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no')
      },
    },
  )
  it.each<[string, unknown]>([
    ['a cycle', circle],
    ['an error that cannot be read', wrapped('cause', unreadable)],
    ['an error of axios', AxiosError.from(new Error('broken'), 'ERR_NETWORK')],
    ['a look-alike', wrapped('cause', { name: 'TokenError', code: 'ERR_LOGIN_REQUIRED' })],
    ['nothing', undefined],
    ['a string', 'TokenError'],
  ])('when it is %s, then none is found', (_, error) => {
    expect([tokenErrorIn(error), isTokenError(error), isLoginRequired(error)]).toEqual([undefined, false, false])
  })

  it('when only Object.prototype has one, then none is found (F379)', () => {
    Object.assign(Object.prototype, { cause: loginRequired(), detail: loginRequired() })
    const found = [tokenErrorIn({}), tokenErrorIn(new Error('broken')), isLoginRequired({})]
    for (const name of ['cause', 'detail']) Reflect.deleteProperty(Object.prototype, name)
    expect(found).toEqual([undefined, undefined, false])
  })
})
