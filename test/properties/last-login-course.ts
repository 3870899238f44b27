import * as fc from 'fast-check'
import type { Delays } from '../support/drawn-delays.ts'
import { shortDelays } from './delays.ts'
import { PEOPLE, type Person, REGISTERS } from './login-course.ts'

/** One of the three managers of a store. No user logs in at the third: it requests tokens, renews them, and logs out of its login. */
export type Owner = 0 | 1 | 2

type StoreState = (typeof REGISTERS)[number] | 'unanswered'

export type LastLoginAct =
  /** `store`: how the manager reaches the store from then on; undefined: unchanged. `isShort`: the login brings no refresh token. */
  | {
      readonly act: 'login'
      readonly at: Owner
      readonly who: Person
      readonly store?: StoreState | undefined
      readonly isShort?: boolean
      /** If the next act is of the same manager, it follows after this many ms. */
      readonly soonMs?: number | undefined
      /** The manager first checks the store. If it has seen the last login then, it acts in the same ms. */
      readonly checks?: boolean
    }
  /** A pending login: `adopt(promise)`. */
  | { readonly act: 'promise'; readonly at: Owner }
  /** The result of the first pending promise of a manager, or of the last one. */
  | {
      readonly act: 'settle'
      readonly at: Owner
      readonly brings: Person | 'nothing' | 'failure'
      readonly isFirst: boolean
    }
  /**
   * `backMs`: by how much the clock of the store was set back before. `checks`: the manager first checks the store, and so ends the login that it finds there.
   * `twice`: the user clicks twice.
   */
  | {
      readonly act: 'logout' | 'reset'
      readonly at: Owner
      readonly backMs?: number | undefined
      readonly checks?: boolean
      readonly twice?: boolean
    }
  /** The clock of the store is set back. */
  | { readonly act: 'set back'; readonly backMs: number }
  | { readonly act: 'renew' | 'ask' | 'look' | 'follow'; readonly at: Owner }
  | { readonly act: 'store'; readonly at: Owner; readonly is: StoreState }
  | { readonly act: 'advance'; readonly ms: number }

const at = fc.constantFrom<Owner>(0, 1, 2)
const [logsIn, who] = [fc.constantFrom<Owner>(0, 1), fc.constantFrom(...PEOPLE)]
const store = fc.oneof(fc.constant(undefined), fc.constantFrom('down', 'unanswered', 'unanswered'))

const isShort = fc.boolean()
const backMs = fc.constantFrom(10_500, 3_600_000)
const [soonMs, checks] = [fc.constantFrom(undefined, 0, 5, 50), fc.boolean()]

const weighted = [
  { weight: 5, arbitrary: fc.record({ act: fc.constant('login'), at: logsIn, who, store, isShort, soonMs, checks }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('promise'), at: logsIn }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('settle'),
      at: logsIn,
      brings: fc.oneof({ weight: 3, arbitrary: who }, fc.constantFrom('nothing', 'failure')),
      isFirst: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constantFrom('logout', 'reset'),
      at,
      backMs: fc.option(backMs, { nil: undefined, freq: 1 }),
      checks: fc.boolean(),
      twice: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ act: fc.constantFrom('renew', 'ask', 'look', 'follow'), at }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('store'),
      at,
      is: fc.oneof(fc.constantFrom('down', 'unanswered', 'well'), fc.constantFrom(...REGISTERS)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('set back'), backMs }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('advance'), ms: fc.constantFrom(10, 1_000, 15_000, 70_000) }) },
] as unknown as fc.WeightedArbitrary<LastLoginAct>[]

const acts = fc.array(fc.oneof(...weighted), { minLength: 3, maxLength: 16, size: 'max' })

/** The store executes the write of a login, and its response is lost. */
const unanswered = fc.record({
  act: fc.constant('login' as const),
  at: logsIn,
  who,
  store: fc.constant('unanswered' as const),
  isShort,
})

const courses: fc.Arbitrary<LastLoginAct[]> = fc.oneof(
  { weight: 2, arbitrary: acts },
  { weight: 1, arbitrary: fc.tuple(unanswered, acts).map(([first, rest]) => [first, ...rest]) },
)

export interface LastLoginCourse {
  readonly acts: readonly LastLoginAct[]
  readonly onUnavailable: 'private' | 'fail'
  readonly delays: Delays
}

export const lastLoginCourses: fc.Arbitrary<LastLoginCourse> = fc.record({
  acts: courses,
  onUnavailable: fc.constantFrom('private', 'fail'),
  delays: shortDelays,
})
