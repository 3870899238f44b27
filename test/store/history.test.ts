import { describe, expect, it } from '@jest/globals'
import { recorded, type Step, unexplainedIn } from '../../tools/testing/history.ts'
import { MemoryRegister } from '../support/memory-register.ts'

type Given = Partial<Step> & Pick<Step, 'begunAt'>

let steps = 0
const read = (value: string | undefined, begunAt: number, endedAt: number, epoch?: string): Given => ({
  ...{ does: 'read', value, begunAt, endedAt },
  ...(epoch !== undefined && { epoch }),
})
/** @param replaced Undefined: there was no response. */
function put(
  [expected, value]: readonly [string | undefined, string],
  replaced: boolean | undefined,
  begunAt: number,
  endedAt = begunAt,
  epoch?: string,
): Given {
  const told = replaced === undefined ? {} : { replaced, endedAt }
  return { does: 'replace', expected, value, begunAt, ...told, ...(epoch !== undefined && { epoch }) }
}
const history = (...given: Given[]): Step[] =>
  given.map((step) => ({ id: `step ${(steps += 1)}`, key: 'account', does: 'read', ...step }))

describe('given the history of a register', () => {
  it.each<[string, Given[]]>([
    ['one step follows the other', [put([undefined, 'a'], true, 1), read('a', 2, 3), put(['a', 'b'], true, 4)]],
    ['a step is visible before it has ended', [put([undefined, 'a'], true, 1, 9), read('a', 2, 3), read('a', 4, 5)]],
    ['a step is not visible before it has ended', [put([undefined, 'a'], true, 1, 9), read(undefined, 2, 3)]],
    [
      'two try the same, and one returns false',
      [put([undefined, 'a'], true, 1, 9), put([undefined, 'b'], false, 2, 3)],
    ],
    [
      'a step without a response is executed late',
      [put([undefined, 'a'], undefined, 1), read(undefined, 2, 3), read('a', 50, 51)],
    ],
    ['a step without a response is never executed', [put([undefined, 'a'], undefined, 1), read(undefined, 50, 51)]],
    [
      'only a step without a response explains why another returned false',
      [
        ...[put([undefined, 'a'], true, 1), put(['a', 'x'], undefined, 2), put(['a', 'y'], undefined, 2)],
        ...[put(['a', 'b'], false, 3), put(['y', 'c'], false, 4)],
      ],
    ],
    [
      'one step without a response was executed after another',
      [put([undefined, 'a'], undefined, 1), put(['a', 'b'], undefined, 2), read('b', 3, 4)],
    ],
    [
      'a restore returns an older text, in another epoch',
      [
        ...[put([undefined, 'a'], true, 1, 1, 'one'), put(['a', 'b'], true, 2, 2, 'one'), read('b', 3, 4, 'one')],
        ...[read('a', 5, 6, 'two'), put(['b', 'c'], false, 7, 7, 'one'), put(['a', 'd'], true, 8, 8, 'two')],
      ],
    ],
    ['its beginning was not recorded', [read('a', 1, 2), put(['a', 'b'], true, 3), read('b', 4, 5)]],
  ])('when %s, then an order explains it', (_, given) => {
    expect(unexplainedIn(history(...given))).toBeUndefined()
  })

  it.each<[string, RegExp, Given[]]>([
    [
      'a text is gone',
      /read, .* found nothing/,
      [put([undefined, 'a'], true, 1), read('a', 2, 3), read(undefined, 4, 5)],
    ],
    [
      'two replace the same text',
      /returned true/,
      [put([undefined, 'a'], true, 1), put(['a', 'b'], true, 2, 9), put(['a', 'c'], true, 3, 9)],
    ],
    [
      'two write a first text',
      /returned true|found/,
      [put([undefined, 'a'], true, 1), put([undefined, 'b'], true, 3), read('b', 4, 5)],
    ],
    [
      'an earlier text is read after a later one',
      /found a text that was not stored at that time/,
      [put([undefined, 'a'], true, 1), put(['a', 'b'], true, 2), read('b', 3, 4), read('a', 5, 6)],
    ],
    [
      'a text is read before it was stored',
      /found a text that was not stored at that time/,
      [read('a', 1, 2), put([undefined, 'a'], true, 3)],
    ],
    [
      'a text is read whose write was rejected',
      /found a text that was never stored/,
      [put([undefined, 'a'], true, 1), put(['x', 'b'], false, 2), read('b', 3, 4)],
    ],
    [
      'a step returned true, but its text is missing',
      /found a text that was not stored at that time/,
      [put([undefined, 'a'], true, 1), put(['a', 'b'], true, 2), read('a', 3, 4)],
    ],
    [
      'a step returned false for no reason',
      /returned false/,
      [put([undefined, 'a'], true, 1), put(['a', 'b'], false, 2), read('a', 3, 4)],
    ],
    [
      'a text of another epoch is stored',
      /found a text/,
      [
        ...[put([undefined, 'a'], true, 1, 1, 'one'), read('a', 2, 3, 'two'), put(['a', 'b'], true, 4, 4, 'one')],
        ...[read('b', 5, 6, 'two')],
      ],
    ],
  ])('when %s, then that is reported, without any text', (_, flaw, given) => {
    const found = unexplainedIn(history(...given))
    expect(found).toMatch(flaw)
  })

  it('when steps of two keys are mixed, then each key is judged separately', () => {
    const [first, ...others] = history(put([undefined, 'a'], true, 1), read(undefined, 2, 3))
    expect(unexplainedIn([first!, ...others.map((step) => ({ ...step, key: 'another' }))])).toBeUndefined()
  })
})

describe('given a recorded register', () => {
  it('when a step has no response, then it is recorded anyway', async () => {
    const noted: Step[] = []
    let at = 0
    const inner = new MemoryRegister()
    const register = recorded(
      { kind: 'test', read: (key) => inner.read(key), replace: () => Promise.reject(new Error('broken')) },
      (step) => noted.push(step),
      () => (at += 1),
    )
    inner.epoch = 'one'
    await register.read('key')
    await register.replace('key', undefined, 'text', 1_000, 'one').catch(() => undefined)
    expect(noted).toMatchObject([
      { does: 'read', begunAt: 1 },
      { does: 'read', begunAt: 1, endedAt: 2, epoch: 'one' },
      { does: 'replace', value: 'text', begunAt: 3, epoch: 'one' },
    ])
    expect(noted[2]).not.toHaveProperty('endedAt')
    expect(unexplainedIn(noted)).toBeUndefined()
  })
})
