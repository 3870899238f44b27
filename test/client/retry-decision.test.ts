import { describe, expect, it } from '@jest/globals'
import { type RejectedRequest, type RetryDecision, retryDecisionOf } from '../../src/client/retry-decision.ts'

const USUAL: RejectedRequest = {
  remedy: 'another-token',
  isOfThisLogin: true,
  isRepeatable: true,
  isReplay: false,
  mayProveAgain: false,
}

describe('given a response that rejects the token', () => {
  it.each<[string, Partial<RejectedRequest>, RetryDecision]>([
    ['comes from the API', {}, 'replay'],
    ['comes after the replay', { isReplay: true }, 'surface-again'],
    ['belongs to a request that must not be sent again', { isRepeatable: false }, 'renew-in-background'],
    ['belongs to a replay that must not be sent again', { isRepeatable: false, isReplay: true }, 'surface-again'],
    ['comes after the login has ended (F209)', { isOfThisLogin: false }, 'surface'],
    ['comes to a stream after the login has ended (F209)', { isOfThisLogin: false, isRepeatable: false }, 'surface'],
    ['states that no token helps (F223)', { remedy: 'none' }, 'surface'],
    ['states that no token helps, to a replay (F223)', { remedy: 'none', isReplay: true }, 'surface'],
    ['requires a nonce from a bearer', { remedy: 'new-proof' }, 'surface'],
    ['requires a nonce', { remedy: 'new-proof', mayProveAgain: true }, 'prove-again'],
    ['requires a nonce after the replay', { remedy: 'new-proof', mayProveAgain: true, isReplay: true }, 'prove-again'],
    ['requires a nonce for a stream', { remedy: 'new-proof', mayProveAgain: true, isRepeatable: false }, 'surface'],
    [
      'requires a nonce after the login has ended',
      { remedy: 'new-proof', mayProveAgain: true, isOfThisLogin: false },
      'surface',
    ],
  ])('when it %s, then the decision is made', (_, facts, decision) => {
    expect(retryDecisionOf({ ...USUAL, ...facts })).toBe(decision)
  })
})
