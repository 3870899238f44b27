import { describe, expect, it } from '@jest/globals'
import { LONGEST_TIMER_MS } from '../../src/core/clock.ts'
import {
  checkChoice,
  checkedDuration,
  checkFlag,
  checkFunction,
  checkNumber,
  checkObject,
  checkText,
} from '../../src/core/option-checks.ts'

/** @returns The class and the message of what `check` throws. */
function thrownBy(check: () => unknown): [unknown, string] {
  try {
    check()
  } catch (thrown) {
    return [(thrown as Error).constructor, (thrown as Error).message]
  }
  return [undefined, '']
}

describe('given an option that must be an object', () => {
  it.each([{}, [], new Map(), Object.create(null) as object, new Date(0)])('when it is %p, then it passes', (value) => {
    expect(() => checkObject('the.option', value)).not.toThrow()
  })

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['hidden-value', 'string'],
    [5, 'number'],
    [true, 'boolean'],
    [5n, 'bigint'],
    [Symbol('hidden-value'), 'symbol'],
    [() => 'hidden-value', 'function'],
  ])('when it is %p, then a TypeError names the option and never the value', (value, kind) => {
    expect(thrownBy(() => checkObject('the.option', value))).toEqual([
      TypeError,
      `the.option must be an object, got ${kind}`,
    ])
  })
})

describe('given an option that must be one of several values', () => {
  const choices = ['obtain', 'stop', undefined]

  it.each(choices)('when it is %p, then it passes', (value) => {
    expect(() => checkChoice('onSuspicious', value, choices)).not.toThrow()
  })

  it.each([
    ['', "''"],
    ['Stop', "'Stop'"],
    ['stop ', "'stop '"],
    [null, 'null'],
    [1, '1'],
  ])('when it is %p, then a TypeError names the option, the choices and the value', (value, text) => {
    expect(thrownBy(() => checkChoice('onSuspicious', value, ['obtain', 'stop']))).toEqual([
      TypeError,
      `onSuspicious must be one of 'obtain', 'stop', got ${text}`,
    ])
  })

  it('when both are not numbers, then they are the same', () => {
    expect(() => checkChoice('n', NaN, [NaN])).not.toThrow()
  })
})

describe('given an option that must be a function', () => {
  it.each([() => undefined, async () => undefined, class Some extends Map {}, Math.max])(
    'when it is a function, then it passes',
    (value) => {
      expect(() => checkFunction('random', value)).not.toThrow()
    },
  )

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [{ call: () => undefined }, 'object'],
    [5, 'number'],
    [true, 'boolean'],
    ['random', 'string'],
  ])('when it is %p, then a TypeError names the option and the type of the value', (value, text) => {
    expect(thrownBy(() => checkFunction('random', value))).toEqual([
      TypeError,
      `random must be a function, got ${text}`,
    ])
  })
})

describe('given an option that must be true or false', () => {
  it.each([true, false])('when it is %s, then it passes', (value) => {
    expect(() => checkFlag('allowInsecureHttp', value)).not.toThrow()
  })

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['true', "'true'"],
    ['false', "'false'"],
    ['', "''"],
    [0, '0'],
    [1, '1'],
    [NaN, 'NaN'],
  ])('when it is %p, then a TypeError names the option and the value', (value, text) => {
    expect(thrownBy(() => checkFlag('allowInsecureHttp', value))).toEqual([
      TypeError,
      `allowInsecureHttp must be true or false, got ${text}`,
    ])
  })
})

describe('given an option that must be a string and may be a secret', () => {
  it.each(['a', ' ', '0', '\0', 'hidden-value'])('when it is %j, then it passes', (value) => {
    expect(() => checkText('clientSecret', value)).not.toThrow()
  })

  it('when it is empty, then a TypeError reports it', () => {
    expect(thrownBy(() => checkText('clientSecret', ''))).toEqual([TypeError, 'clientSecret must not be empty'])
  })

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [12345678, 'number'],
    [true, 'boolean'],
    [98765432n, 'bigint'],
    [Symbol('hidden-value'), 'symbol'],
    [{ value: 'hidden-value' }, 'object'],
    [['hidden-value'], 'object'],
    [() => 'hidden-value', 'function'],
    [new String('hidden-value'), 'object'],
  ])('when it is %p, then a TypeError names the option and never the value', (value, kind) => {
    expect(thrownBy(() => checkText('clientSecret', value))).toEqual([
      TypeError,
      `clientSecret must be a string, got ${kind}`,
    ])
  })
})

describe('given an option that must be a number', () => {
  it.each([
    [0, 0, undefined],
    [-0, 0, undefined],
    [1, 0, 1],
    [0.2, 0, 1],
    [Number.MAX_VALUE, 0, undefined],
    [Number.MIN_VALUE, 0, undefined],
    [-5, -5, 5],
  ])('when it is %d and may be %d to %p, then it passes', (value, least, most) => {
    expect(() => checkNumber('retry.maxAttempts', value, least, most)).not.toThrow()
  })

  it.each([
    [-1, 0, undefined, 'a finite number from 0, got -1'],
    [-Number.MIN_VALUE, 0, undefined, 'a finite number from 0, got -5e-324'],
    [NaN, 0, undefined, 'a finite number from 0, got NaN'],
    [Infinity, 0, undefined, 'a finite number from 0, got Infinity'],
    [-Infinity, 0, undefined, 'a finite number from 0, got -Infinity'],
    [0, 1, undefined, 'a finite number from 1, got 0'],
    [0.999, 1, undefined, 'a finite number from 1, got 0.999'],
    [1.001, 0, 1, 'a number from 0 to 1, got 1.001'],
    [NaN, 0, 1, 'a number from 0 to 1, got NaN'],
    [Infinity, 0, 1, 'a number from 0 to 1, got Infinity'],
  ])(
    'when it is %d and may be %d to %p, then a RangeError names the option, the range and the value',
    (value, least, most, rest) => {
      expect(thrownBy(() => checkNumber('retry.maxAttempts', value, least, most))).toEqual([
        RangeError,
        `retry.maxAttempts must be ${rest}`,
      ])
    },
  )

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['5', "'5'"],
    ['', "''"],
    [true, 'true'],
    [5n, '5'],
    [Symbol('5'), 'Symbol(5)'],
  ])('when it is %p, then a TypeError names the option and the value', (value, text) => {
    expect(thrownBy(() => checkNumber('retry.maxAttempts', value, 0))).toEqual([
      TypeError,
      `retry.maxAttempts must be a number, got ${text}`,
    ])
  })
})

describe('given an option that is a duration', () => {
  it.each([
    [0, 0],
    [0.5, 0.5],
    [10_000, 10_000],
    [LONGEST_TIMER_MS - 1, LONGEST_TIMER_MS - 1],
    [LONGEST_TIMER_MS, LONGEST_TIMER_MS],
    [LONGEST_TIMER_MS + 1, LONGEST_TIMER_MS],
    [Number.MAX_VALUE, LONGEST_TIMER_MS],
  ])('when it is %d ms, then %d ms are used, the most that a timer can hold', (value, used) => {
    expect(checkedDuration('exchangeTimeoutMs', value)).toBe(used)
  })

  it.each([-1, NaN, Infinity])('when it is %d, then a RangeError names it', (value) => {
    expect(thrownBy(() => checkedDuration('exchangeTimeoutMs', value))).toEqual([
      RangeError,
      `exchangeTimeoutMs must be a finite number from 0, got ${value}`,
    ])
  })

  it('when it is a string, then a TypeError names it', () => {
    expect(thrownBy(() => checkedDuration('exchangeTimeoutMs', '5s'))[0]).toBe(TypeError)
  })
})

describe('given a value that may hold a secret', () => {
  const values: unknown[] = [
    { clientSecret: 'hidden-value' },
    ['hidden-value'],
    new Error('hidden-value'),
    { toString: () => 'hidden-value' },
    Object.assign(Object.create(null) as object, { secret: 'hidden-value' }),
    () => ({ clientSecret: 'hidden-value' }),
  ]

  it.each(values)('when it is given for another type of option, then no message shows its content', (value) => {
    const checks = [
      () => checkChoice('the.option', value, ['a', 'b']),
      () => checkFlag('the.option', value),
      () => checkText('the.option', value),
      () => checkNumber('the.option', value, 0),
      () => checkedDuration('the.option', value),
      ...(typeof value === 'function' ? [() => checkObject('the.option', value)] : []),
      ...(typeof value === 'object' ? [() => checkFunction('the.option', value)] : []),
    ]
    for (const check of checks) {
      const [kind, message] = thrownBy(check)
      expect(kind).toBe(TypeError)
      expect(message).toMatch(/^the\.option must be .*, got ./)
      expect(message).not.toContain('hidden-value')
    }
  })

  it('when it is a string instead of a function that provides it, then the message does not show it', () => {
    expect(thrownBy(() => checkFunction('credentials', 'hidden-value'))).toEqual([
      TypeError,
      'credentials must be a function, got string',
    ])
  })
})
