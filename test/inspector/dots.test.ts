import { describe, expect, it } from '@jest/globals'
import {
  countsOf,
  type Course,
  type Dot,
  EMPTY,
  kindOfEnd,
  kindOfEvent,
  readMessage,
  withDot,
  without,
} from '../../src/inspector/dots.ts'

const answeredAt = (at: number): Dot => [at, 'answered']
const courseOf = (...instants: number[]) =>
  instants.reduce<Course>((course, at) => withDot(course, answeredAt(at)), EMPTY)

describe('given the dots of a minute', () => {
  it.each<[string, Dot[]]>([
    ['nothing', []],
    [
      '38 answered, 1 sent again, 1 failed',
      [...Array<Dot>(38).fill([0, 'answered']), [1, 'rejected, then answered'], [2, 'failed']],
    ],
    [
      '1 token request renewed, 2 token requests tried again, 1 token request failed',
      [
        [0, 'retry'],
        [1, 'retry'],
        [2, 'renewed'],
        [3, 'renewalFailed'],
      ],
    ],
  ])('when they are summarized, then the text is %s', (words, dots) => {
    expect(countsOf(dots)).toBe(words)
  })
})

describe('given how a request ended', () => {
  it.each([
    [{ isError: false, status: 200, rejections: 0 }, 'answered'],
    [{ isError: false, status: 200, rejections: 1 }, 'rejected, then answered'],
    [{ isError: false, status: 401, rejections: 2 }, 'failed'],
    [{ isError: true, status: 401, rejections: 2 }, 'failed'],
    [{ isError: true, status: 503, rejections: 1 }, 'failed'],
    [{ isError: true, code: 'ERR_NETWORK', rejections: 0 }, 'failed'],
    [{ isError: true, code: 'ERR_CANCELED', rejections: 0 }, undefined],
  ])('when it is %j, then the dot is %s', (end, kind) => {
    expect(kindOfEnd(end)).toBe(kind)
  })
})

describe('given an event', () => {
  it.each([
    ['renewed', { by: 'refresh' }, 'renewed'],
    ['renewed', { by: 'adopted' }, 'adopted'],
    ['retry', {}, 'retry'],
    ['renewalFailed', {}, 'renewalFailed'],
    ['anomaly', {}, undefined],
  ] as const)('when it is %s %j, then the token request is shown as %s', (name, event, kind) => {
    expect(kindOfEvent(name, event)).toBe(kind)
  })
})

describe('given the dots of a tab', () => {
  it('when there are more than an axis holds, then the oldest are removed, and the numbers of the others stay', () => {
    const { from, dots } = courseOf(...Array.from({ length: 302 }, (_, n) => n))
    expect([from, dots.length, dots[0], dots.at(-1)]).toEqual([2, 300, answeredAt(2), answeredAt(301)])
  })

  it('when some have left the axis, then the numbers of the others stay; when none has, nothing is rendered', () => {
    const course = courseOf(10, 20, 30)
    expect(without(course, 10)).toBe(course)
    expect(without(course, 11)).toEqual({ from: 1, dots: [answeredAt(20), answeredAt(30)] })
    expect(without(course, 31)).toEqual({ from: 3, dots: [] })
  })

  it('when they are sent to another tab, then they are read unchanged; when a tab leaves, then its message has none', () => {
    const course = courseOf(1, 2)
    expect(readMessage({ tab: 'a', course })).toEqual({ tab: 'a', course })
    expect(readMessage({ tab: 'a' })).toEqual({ tab: 'a' })
    expect(readMessage({ tab: '', course })).toBeUndefined()
  })
})
