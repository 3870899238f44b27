import * as fc from 'fast-check'
import type { TokenManagerOptions } from '../../src/index.ts'
import { type Behaviour, type Ending, endings, HEALTHY, type Lifetimes, type Scripts } from './rotating-service.ts'

/** How long a caller waits, and on which signal: the one at `slot`, which others may share; the last is already aborted. */
interface Wait {
  readonly maxWaitMs: number | undefined
  readonly slot: number | undefined
}

export type Act =
  | ({ readonly act: 'ask'; readonly times: number } & Wait)
  | ({ readonly act: 'replace'; readonly which: 'the last' | 'an old one' | 'never issued' } & Wait)
  | ({ readonly act: 'renew' } & Wait)
  | { readonly act: 'abort'; readonly slot: number }
  | { readonly act: 'advance' | 'step' | 'sleep'; readonly ms: number }
  | { readonly act: 'approach'; readonly edge: Edge; readonly offMs: number }
  | { readonly act: 'peek' | 'reset' | 'close' }

/** An instant in the lifetime of a held token. */
export type Edge = 'its hard skew' | 'its end' | 'the end of its refresh token'

export interface Command {
  readonly what: Act
  /** Microtasks until the next command; undefined: until none is left. */
  readonly turns: number | undefined
}

/** Everything that happens to one manager. */
export interface Course {
  readonly pairs: boolean
  readonly lifetimes: Lifetimes
  readonly scripts: Scripts
  readonly options: Pick<TokenManagerOptions, 'renewal' | 'retry' | 'onSuspicious'>
  /** Random numbers, used one after the other, and then from the start again. */
  readonly draws: readonly number[]
  readonly commands: readonly Command[]
}

/** Signals that can be aborted. */
export const SLOTS = 3
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Usual delays, and delays just before and after the limits of the manager. */
const delays = fc.constantFrom(0, 0, 0, 1, 250, 999, 2 * SECOND, 9_999, 10 * SECOND, 15 * SECOND)

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  ends: fc.oneof(
    { weight: 2, arbitrary: fc.constant('accepted' as const) },
    { weight: 3, arbitrary: fc.constantFrom(...endings) },
  ),
  takesMs: delays,
  retryAfterMs: fc.option(fc.constantFrom(0, SECOND, 10 * SECOND, 2 * MINUTE, 1_000 * SECOND), {
    nil: undefined,
    freq: 3,
  }),
  leftMs: fc.option(fc.constantFrom(-1, 0, 1, 999), { nil: undefined, freq: 8 }),
})

/** What fails once often fails again. */
const spell = fc
  .tuple(behaviour, fc.constantFrom(1, 1, 1, 2, 4, 8))
  .map(([one, times]) => Array<Behaviour>(times).fill(one))
const outage = fc
  .constantFrom<Ending>('503', '503', '429', 'not sent', 'lost before the act')
  .map((ends) => Array<Behaviour>(8).fill({ ends, takesMs: 0 }))
/** The service has acted, and its response was lost: the next call presents a spent refresh token. */
const lostAnswer = fc
  .constantFrom<Ending>('503 after the act', 'lost after the act')
  .map((ends): Behaviour[] => [{ ends, takesMs: 0 }, HEALTHY])
/** Another party has spent the refresh token. */
const theft = fc.constant<Behaviour[]>([{ ends: '401', takesMs: 0 }])
const script = (maxLength: number) =>
  fc
    .array(fc.oneof(spell, fc.oneof(outage, lostAnswer, theft)), { maxLength, size: 'max' })
    .map((spells) => spells.flat())

const wait = {
  maxWaitMs: fc.option(fc.constantFrom(0, 1, 500, 5 * SECOND, MINUTE), { nil: undefined }),
  slot: fc.option(fc.nat({ max: SLOTS }), { nil: undefined }),
}

const usual: fc.WeightedArbitrary<Act>[] = [
  { weight: 14, arbitrary: fc.record({ act: fc.constant('ask'), times: fc.constantFrom(1, 1, 2, 10), ...wait }) },
  { weight: 5, arbitrary: fc.constant({ act: 'peek' }) },
  {
    weight: 18,
    arbitrary: fc.record({
      act: fc.constant('advance'),
      ms: fc.oneof(
        fc.constantFrom(0, 1, 249, 250, 500, SECOND, 2 * SECOND, 3 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND),
        fc.constantFrom(30 * SECOND, 45 * SECOND, 57 * SECOND, MINUTE, 5 * MINUTE),
        fc.nat({ max: MINUTE }),
      ),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      act: fc.constant('approach'),
      edge: fc.constantFrom('its hard skew', 'its hard skew', 'its end', 'its end', 'the end of its refresh token'),
      offMs: fc.constantFrom(-1, 0, 0, 1),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      act: fc.constant('replace'),
      which: fc.constantFrom('the last', 'the last', 'the last', 'an old one', 'never issued'),
      ...wait,
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('renew'), ...wait }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('abort'), slot: fc.nat({ max: SLOTS - 1 }) }) },
  { weight: 4, arbitrary: fc.constant({ act: 'reset' }) },
  { weight: 1, arbitrary: fc.constant({ act: 'close' }) },
]

const ahead = [500, 2_000, 2_001, MINUTE, HOUR]
const back = [-500, -2_000, -2_001, -MINUTE, -HOUR]

/** No course has both a step back and sleep: between two clock readings, one would hide the other. */
const disturbances: Record<string, fc.Arbitrary<Act>> = {
  'a clock that is set': fc.record({ act: fc.constant('step'), ms: fc.constantFrom(...ahead, ...back) }),
  'a machine that sleeps': fc.record({
    act: fc.constantFrom('sleep', 'sleep', 'step'),
    ms: fc.constantFrom(2_001, 30 * SECOND, MINUTE, HOUR),
  }),
}

const settings = {
  lifetimes: fc.record({
    accessMs: fc.constantFrom(500, 4 * SECOND, MINUTE, MINUTE, MINUTE, 10 * MINUTE),
    refreshMs: fc.constantFrom(5 * SECOND, 30 * SECOND, 5 * MINUTE),
  }),
  scripts: fc.record({
    // With these weights, most courses obtain a token.
    obtain: fc.oneof(
      fc.constant([]),
      script(4),
      script(6).map((rest) => [HEALTHY, ...rest]),
    ),
    refresh: script(6),
  }),
  options: fc.record({
    renewal: fc.record({
      keepWarm: fc.constantFrom('while-used', 'while-used', 'while-used', 'always', 'never', 'never'),
      maxWaitMs: fc.constantFrom(undefined, undefined, undefined, 2 * SECOND),
    }),
    retry: fc.record({ maxAttempts: fc.constantFrom(undefined, undefined, undefined, 1, 2) }),
    onSuspicious: fc.constantFrom(undefined, undefined, 'stop'),
  }),
  // Binary fractions, so that the sums of the model equal those of the manager.
  draws: fc.array(fc.constantFrom(0, 0.25, 0.5, 0.75), { minLength: 1, maxLength: 4 }),
} as const

const command = (disturbance: fc.Arbitrary<Act>): fc.Arbitrary<Command> =>
  fc.record({
    what: fc.oneof(...usual, { weight: 6, arbitrary: disturbance }),
    turns: fc.option(fc.nat({ max: 12 }), { nil: undefined, freq: 3 }),
  })

/** Courses with single-use refresh tokens (`pairs`), or with credentials alone. */
export function courses(pairs: boolean): fc.Arbitrary<Course> {
  const withCommands = Object.values(disturbances).map((disturbance) =>
    fc.record({
      ...settings,
      pairs: fc.constant(pairs),
      commands: fc.array(command(disturbance), { minLength: 1, maxLength: 40, size: 'max' }),
    }),
  )
  return fc.oneof(...withCommands)
}
