import * as fc from 'fast-check'
import { DATA, HEADERS, PARAMS } from './given-objects.ts'

const nameIn = <Table extends object>(table: Table) => fc.constantFrom(...(Object.keys(table) as (keyof Table)[]))

const asked = fc.record({
  method: fc.constantFrom('post', 'post', 'put', 'get'),
  params: nameIn(PARAMS),
  data: nameIn(DATA),
  headers: nameIn(HEADERS),
})
export type Asked = typeof asked extends fc.Arbitrary<infer One> ? One : never

/** Requests whose objects are changed, or reused, as soon as each call has returned. */
export const asCalledCourses = fc.record({
  adapter: fc.constantFrom('http', 'fetch'),
  /** The manager has a token before the first request; otherwise all requests wait for one. */
  isWarm: fc.boolean(),
  /** The API rejects the first token. */
  isRejected: fc.boolean(),
  hasKey: fc.boolean(),
  /** The requests use the same objects. */
  isShared: fc.boolean(),
  /** An interceptor sets one headers object on all requests. */
  sharesHeaders: fc.boolean(),
  asked: fc.array(asked, { minLength: 1, maxLength: 4 }),
})
export type AsCalledCourse = typeof asCalledCourses extends fc.Arbitrary<infer One> ? One : never
