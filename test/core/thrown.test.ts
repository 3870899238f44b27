import { describe, expect, it } from '@jest/globals'
import { member } from '../../src/core/thrown.ts'

class WithGetter {
  get valueOf() {
    return () => 'of its class'
  }
}

describe('given what code that is not ours has thrown', () => {
  it.each<[string, unknown, unknown]>([
    ['has the member itself', { valueOf: 'its own' }, 'its own'],
    ['has the member from a class between', Object.create(new WithGetter()), expect.any(Function)],
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
    ['is no object', 'text', undefined],
    ['is null', null, undefined],
  ])('when it %s, then the member is read so', (_, thrown, expected) => {
    expect(member(thrown, 'valueOf')).toEqual(expected)
  })
})
