import { describe, expect, it } from '@jest/globals'
import { type RefusedRequest, type Sequel, sequelOf } from '../../src/client/sequel.ts'

const USUAL: RefusedRequest = {
  cure: 'another-token',
  isOfThisLogin: true,
  isRepeatable: true,
  isReplay: false,
  mayProveAgain: false,
}

describe('given an answer that refuses the token', () => {
  it.each<[string, Partial<RefusedRequest>, Sequel]>([
    ['comes from the API', {}, 'replay'],
    ['comes after the replay', { isReplay: true }, 'surface-again'],
    ['is of a request that must not be sent again', { isRepeatable: false }, 'replace-behind'],
    ['is of a replay that must not be sent again', { isRepeatable: false, isReplay: true }, 'surface-again'],
    ['comes after the login has ended (F209)', { isOfThisLogin: false }, 'surface'],
    ['comes to a stream after the login has ended (F209)', { isOfThisLogin: false, isRepeatable: false }, 'surface'],
    ['says that no token helps (F223)', { cure: 'none' }, 'surface'],
    ['says that no token helps, to a replay (F223)', { cure: 'none', isReplay: true }, 'surface'],
    ['wants a nonce from a bearer', { cure: 'new-proof' }, 'surface'],
    ['wants a nonce', { cure: 'new-proof', mayProveAgain: true }, 'prove-again'],
    ['wants a nonce after the replay', { cure: 'new-proof', mayProveAgain: true, isReplay: true }, 'prove-again'],
    ['wants a nonce for a stream', { cure: 'new-proof', mayProveAgain: true, isRepeatable: false }, 'surface'],
    [
      'wants a nonce after the login has ended',
      { cure: 'new-proof', mayProveAgain: true, isOfThisLogin: false },
      'surface',
    ],
  ])('when it %s, then what follows is decided', (_, facts, sequel) => {
    expect(sequelOf({ ...USUAL, ...facts })).toBe(sequel)
  })
})
