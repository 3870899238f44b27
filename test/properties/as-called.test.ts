import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { newKey } from '../dpop/support/keys.ts'
import { asCalledCourses } from './as-called-course.ts'
import { Listener, nothingMet, travelAsCalled } from './as-called-voyage.ts'
import { part, share } from '../support/part.ts'
import { patience, runs } from './runs.ts'

const USUAL = part(300, share(150, 50))

describe('given requests whose objects are changed, or reused, as soon as each call has returned', () => {
  let listener: Listener
  beforeAll(async () => {
    listener = await Listener.open()
  })
  afterAll(() => listener.close())

  it(
    'then each sends what plain axios sends at the call: at first, after a wait, after a 401, and with proofs (F263, F267)',
    async () => {
      const key = await newKey()
      const met = nothingMet()
      await fc.assert(
        fc.asyncProperty(asCalledCourses, (course) => travelAsCalled(course, listener, key, met)),
        runs(USUAL),
      )
      // These courses go where a request could change.
      expect(Math.min(...Object.values<number>({ ...met }))).toBeGreaterThan(USUAL / 10)
    },
    patience(USUAL),
  )
})
