import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { DOORS } from '../client/support/doors.ts'
import { newKey } from '../dpop/support/keys.ts'
import { doorCourses } from './doors-course.ts'
import { Net, nothingMet, travelThrough } from './doors-voyage.ts'
import { patience, runs, usually } from './runs.ts'

const USUAL = usually(240)

describe('given the same logins, challenges, redirects and broken responses for each client library', () => {
  let net: Net
  beforeAll(async () => {
    net = await Net.open()
  })
  afterAll(() => net.close())

  it(
    'then axios with http, axios with fetch, and withBearer send the same, even if objects are shared (F261, F263)',
    async () => {
      const key = await newKey()
      const met = nothingMet()
      await fc.assert(
        fc.asyncProperty(doorCourses, async (course) => {
          const [first, ...others] = DOORS
          const expected = await travelThrough(first!, course, net, key, met)
          for (const door of others) expect(await travelThrough(door, course, net, key, met)).toEqual(expected)
        }),
        runs(USUAL),
      )
      // These courses go where the attachments could differ.
      expect(Math.min(...Object.values<number>({ ...met }))).toBeGreaterThan(USUAL / 10)
    },
    patience(USUAL),
  )
})
