import * as fc from 'fast-check'
import type { DATA, HEADERS } from './given-objects.ts'

/** Bodies that axios and fetch send alike: both unchanged, and both with the type of the request. */
const BODIES = [
  'none',
  'text',
  'URLSearchParams',
  'Buffer',
  'ArrayBuffer',
  'Blob',
] as const satisfies (keyof typeof DATA)[]
const BODILY = ['post', 'put'] as const

/** The API's reactions to a request, in order of arrival: a rejected token, a challenge, a redirect, a broken response. */
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
      /** The API's reactions to its first requests. */
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
