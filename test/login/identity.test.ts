import { describe, expect, it } from '@jest/globals'
import { compare, CONTINUES, type Identity, type Sameness } from '../../src/login/identity.ts'

describe('given two logins and what is known of them', () => {
  it.each<[string, Identity, Identity, Sameness]>([
    ['nothing', {}, {}, 'unknown'],
    ['the facts of one', { loginId: 'a', login: 1, name: 'alice', subject: 'f' }, {}, 'unknown'],
    ['facts of two kinds', { name: 'alice' }, { subject: 'f' }, 'unknown'],
    ['one id', { loginId: 'a', login: 1 }, { loginId: 'a', login: 2 }, 'same'],
    ['two ids alone', { loginId: 'a' }, { loginId: 'b' }, 'unknown'],
    ['two ids of one number', { loginId: 'a', login: 1 }, { loginId: 'b', login: 1 }, 'same'],
    ['two numbers of one user', { login: 1, subject: 'f' }, { login: 2, subject: 'f' }, 'other'],
    ['one name with two fingerprints', { name: 'alice', subject: 'f' }, { name: 'alice', subject: 'g' }, 'same'],
    ['two names', { name: 'alice' }, { name: 'bob' }, 'other'],
    ['one fingerprint', { name: 'alice', subject: 'f' }, { subject: 'f' }, 'same'],
    ['two fingerprints', { subject: 'f' }, { subject: 'g' }, 'other'],
  ])('when it is %s, then the first fact that both have decides, in both directions', (_, one, other, sameness) => {
    expect([compare(one, other), compare(other, one)]).toEqual([sameness, sameness])
  })

  it('when a login arrives, then the same one always continues, another one never does, and an unknown one depends on how it arrived', () => {
    expect(CONTINUES).toEqual({
      adopted: { same: true, other: false, unknown: false },
      obtained: { same: true, other: false, unknown: true },
      obtainedAfterEnd: { same: true, other: false, unknown: false },
      found: { same: true, other: false, unknown: true },
      foundUnreported: { same: true, other: false, unknown: false },
      replaced: { same: true, other: false, unknown: true },
    })
  })
})
