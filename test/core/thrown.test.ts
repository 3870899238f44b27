import { describe, expect, it } from '@jest/globals'
import { member } from '../../src/core/thrown.ts'

class WithGetter {
  get valueOf() {
    return () => 'of its class'
  }
}

describe('given a value thrown by foreign code', () => {
  it.each<[string, unknown, unknown]>([
    ['has the member itself', { valueOf: 'its own' }, 'its own'],
    ['has the member from a class in between', Object.create(new WithGetter()), expect.any(Function)],
    ['has it from Object.prototype only', {}, undefined],
    ['has no prototype, and no such member', Object.create(null), undefined],
    [
      'throws when it is read',
      {
        get valueOf(): unknown {
          throw new Error('not to be read')
        },
      },
      undefined,
    ],
    ['is not an object', 'text', undefined],
    ['is null', null, undefined],
  ])('when it %s, then the member is read accordingly', (_, thrown, expected) => {
    expect(member(thrown, 'valueOf')).toEqual(expected)
  })
})
