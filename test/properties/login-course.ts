import * as fc from 'fast-check'
import type { Delays } from '../support/drawn-delays.ts'
import { shortDelays } from './delays.ts'
import type { Asked } from './login-traffic.ts'

/** Each of them is a separate login. The service names alice and bob in each response, and carol in none. */
export const PEOPLE = ['alice', 'bob', 'carol'] as const
export type Person = (typeof PEOPLE)[number]
/** One of the two managers, of the two axios instances, or of the two fetches. */
export type Which = 0 | 1
/** How a request is sent: through `attachBearer`, or through `withBearer`. */
export type Door = 'axios' | 'fetch'

export const ENDS = ['502', '503', 'lost', '502 after', '503 after', 'lost after', 'refused', 'unknown word'] as const
export type End = 'accepted' | (typeof ENDS)[number]

export const REGISTERS = ['down', 'slow', 'late', 'delayed', 'well'] as const

export type LoginAct =
  | { readonly act: 'login'; readonly at: Which; readonly who: Person; readonly brings: 'both' | 'refresh' | 'access' }
  | { readonly act: 'logout' | 'reset' | 'renew'; readonly at: Which }
  /** The manager checks the record; or it follows it from now on, as a page does. */
  | { readonly act: 'look' | 'follow'; readonly at: Which }
  /** An axios instance uses the tokens of this manager, instead of those of another one. */
  | { readonly act: 'attach'; readonly at: Which; readonly on: Which }
  | { readonly act: 'detach'; readonly on: Which }
  | ({ readonly act: 'request'; readonly times: number } & Asked)
  /** The API rejects the token that this manager holds. */
  | { readonly act: 'refuse'; readonly at: Which }
  /** How the next token requests end. */
  | { readonly act: 'service'; readonly ends: End; readonly times: number; readonly takesMs: number }
  /** late: its responses arrive too late; delayed: it executes steps too late. `at`: for this manager alone. */
  | { readonly act: 'register'; readonly is: (typeof REGISTERS)[number]; readonly at?: Which | undefined }
  | { readonly act: 'advance'; readonly ms: number }

export interface LoginCommand {
  readonly what: LoginAct
  /** Microtasks until the next command; undefined: until none is left. */
  readonly turns: number | undefined
}

const at = fc.constantFrom<Which>(0, 1)
const weighted: fc.WeightedArbitrary<LoginAct>[] = [
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant('login'),
      at,
      who: fc.constantFrom(...PEOPLE),
      brings: fc.constantFrom('both', 'both', 'both', 'refresh', 'access'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('logout', 'logout', 'reset'), at }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('look', 'look', 'look', 'follow'), at }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('attach'), at, on: at }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('detach'), on: at }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('renew'), at }) },
  {
    weight: 10,
    arbitrary: fc.record({
      act: fc.constant('request'),
      door: fc.constantFrom('axios', 'axios', 'axios', 'fetch'),
      at,
      times: fc.constantFrom(1, 1, 2, 5),
      takesMs: fc.constantFrom(0, 0, 10, 1_000, 5_000),
      pauseMs: fc.constantFrom(0, 0, 10, 2_000),
      pausesFirst: fc.boolean(),
      shares: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ act: fc.constant('refuse'), at }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('service'),
      ends: fc.oneof(fc.constant('accepted'), fc.constantFrom(...ENDS)),
      times: fc.constantFrom(1, 1, 3, 8),
      takesMs: fc.constantFrom(0, 10, 999, 2_000, 12_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('register'),
      is: fc.constantFrom(...REGISTERS),
      at: fc.constantFrom<(Which | undefined)[]>(undefined, undefined, 0, 1),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      act: fc.constant('advance'),
      ms: fc.oneof(
        fc.constantFrom(0, 1, 10, 100, 250, 999, 1_000, 2_000, 5_000),
        fc.constantFrom(10_000, 30_000, 45_000, 57_000, 60_000, 120_000),
      ),
    }),
  },
] as fc.WeightedArbitrary<LoginAct>[]

export interface LoginCourse {
  /** Tokens are obtained with a cookie: a login changes the cookie. */
  readonly isSession?: boolean
  readonly store: 'memory' | 'register'
  readonly delays?: Delays
  readonly draws: readonly number[]
  readonly commands: readonly LoginCommand[]
}

export const loginCourses: fc.Arbitrary<LoginCourse> = fc.record({
  store: fc.constantFrom('memory', 'register'),
  delays: shortDelays,
  draws: fc.array(fc.constantFrom(0, 0.3, 0.999), { minLength: 1, maxLength: 5 }),
  commands: fc.array(
    fc.record({
      what: fc.oneof(...weighted),
      turns: fc.option(fc.constantFrom(0, 1, 2, 5, 12), { nil: undefined, freq: 2 }),
    }),
    { minLength: 3, maxLength: 30, size: 'max' },
  ),
})
