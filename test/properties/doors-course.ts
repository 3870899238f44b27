import * as fc from 'fast-check'
import type { DATA, HEADERS } from './given-objects.ts'

/** Bodies that axios and fetch send alike: both as they are, and both with the type that the request says. */
const BODIES = [
  'none',
  'text',
  'URLSearchParams',
  'Buffer',
  'ArrayBuffer',
  'Blob',
] as const satisfies (keyof typeof DATA)[]
const BODILY = ['post', 'put'] as const

/** What the API does with a request, in the order of its sendings: a token that it rejects, a challenge, a redirect, a broken answer. */
const TURNS = ['401', '401', 'scope', 'step-up', 'nonce', '307', '303', '307 away', 'cut', '503'] as const
export type Turn = (typeof TURNS)[number]

const acts = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant('request' as const),
      method: fc.constantFrom('get', ...BODILY),
      body: fc.constantFrom(...BODIES),
      headers: fc.constantFrom<keyof typeof HEADERS>('none', 'plain'),
      /** What the API does with its first sendings. */
      turns: fc.array(fc.constantFrom(...TURNS), { maxLength: 2 }),
      isAwaited: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('login' as const), who: fc.constantFrom('alice', 'bob') }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('logout' as const, 'expire' as const) }) },
)
export type DoorAct = typeof acts extends fc.Arbitrary<infer Act> ? Act : never
export type DoorRequest = Extract<DoorAct, { act: 'request' }>

/** The same events for each client library. */
export const doorCourses = fc.record({
  hasKey: fc.boolean(),
  /** The requests use the same objects, which are changed as soon as a call has returned. */
  isShared: fc.boolean(),
  acts: fc.array(acts, { minLength: 2, maxLength: 8 }),
})
export type DoorCourse = typeof doorCourses extends fc.Arbitrary<infer Course> ? Course : never
