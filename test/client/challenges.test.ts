import { describe, expect, it } from '@jest/globals'
import { remedyOf, errorsIn } from '../../src/client/challenges.ts'

describe('given a WWW-Authenticate header (RFC 9110, sections 11.2 to 11.6)', () => {
  it.each<[string, string[]]>([
    ['Bearer', []],
    ['Bearer realm="a"', []],
    ['Bearer error=a', ['a']],
    ['Bearer error="a"', ['a']],
    ['bearer ERROR=a, Realm=b', ['a']],
    ['Bearer realm="a", error="b"', ['b']],
    ['Bearer error = "x" , scope= "a b"', ['x']],
    ['Bearer error="a, Basic realm=\\"b\\""', ['a, Basic realm="b"']],
    ['Basic realm="x", Bearer error="y"', ['y']],
    ['Basic error="x", Bearer error="y"', ['x', 'y']],
    ['Basic, Bearer, DPoP error="z"', ['z']],
    ['Negotiate YWJj=, Bearer error="y"', ['y']],
    ['Negotiate YWJj, Bearer error="y"', ['y']],
    ['Bearer error="y", Negotiate abc', ['y']],
    ['Newauth realm="apps", type=1, title="Login to \\"apps\\"", error=x, Basic realm="simple"', ['x']],
    [', ,Bearer ,error="y",', ['y']],
    [', ,Bearer error="y", ,', ['y']],
    ['Bearer , error="y",', ['y']],
    ['Bearer error=""', ['']],
    ['\tBearer  error="a" ', ['a']],
    ['Bearer error="\u00e9"', ['\u00e9']],
    ['Bearer error="a"'.padEnd(16_384), ['a']],
  ])('when it is %j, then the errors of its challenges are read', (header, expected) => {
    expect(errorsIn(header)).toEqual(expected)
  })

  it.each<unknown>([
    undefined,
    null,
    7,
    [],
    '',
    'Bearer error="x',
    'Bearer error="x" scope="y"',
    'Bearer error="x"; scope="y"',
    'Bearer, error="x"',
    'error="x"',
    'Negotiate abc, error="x"',
    'Bearer error="x", error="y"',
    'Bearer "x"',
    'Bearer abc def',
    'Bearer error="\u0000"',
    'Bearer error="ж"',
    'Bearer error="a"'.padEnd(16_385),
  ])('when it is %j, which is invalid, then it counts as none (F223)', (header) => {
    expect(errorsIn(header)).toEqual([])
    expect(remedyOf(header)).toBe('another-token')
  })

  it.each([
    ['Bearer', 'another-token'],
    ['Bearer error="invalid_token"', 'another-token'],
    ['Bearer error="something_else"', 'another-token'],
    ['Bearer error="insufficient_scope", scope="a b"', 'none'],
    ['Bearer error=insufficient_scope', 'none'],
    ['Bearer error="insufficient_user_authentication", acr_values="x", max_age=5', 'none'],
    ['Basic realm="x", Bearer error="insufficient_scope"', 'none'],
    ['Bearer realm="x", DPoP error="insufficient_scope"', 'none'],
    ['Bearer error="insufficient_scope", DPoP error="invalid_token"', 'another-token'],
    ['DPoP error="use_dpop_nonce", algs="ES256"', 'new-proof'],
    ['Bearer realm="insufficient_scope"', 'another-token'],
    ['Bearer error_description="insufficient_scope"', 'another-token'],
  ])('when it is %j, then the remedy is: %s (F223)', (header, remedy) => {
    expect(remedyOf(header)).toBe(remedy)
  })

  it('when it is long and hostile, then it is read in a time that grows with its length', () => {
    // A time limit would depend on the machine: a reader that backtracks would not end at all.
    for (const one of ['a', ' ', ',', '"', '\\"', '=', 'a=', 'a="', 'a ', 'a= ,'])
      expect(Array.isArray(errorsIn(one.repeat(16_000 / one.length)))).toBe(true)
  })
})
