import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { originCourses } from './origin-course.ts'
import { loopbackNet, memoryNet, type Net } from './origin-nets.ts'
import { nothingMet, travelAcrossOrigins } from './origin-world.ts'
import { part, share } from '../support/part.ts'
import { patience, runs } from './runs.ts'

const NETS: [string, number, boolean, () => Promise<Net>][] = [
  ['the http adapter, over a network in memory', part(600, share(220, 80)), true, async () => memoryNet()],
  ['the http adapter', part(100, share(60, 20)), false, () => loopbackNet('http')],
  ['the fetch adapter', part(150, share(60, 20)), false, () => loopbackNet('fetch')],
  ['the http adapter over HTTP/2', part(100, share(60, 20)), false, () => loopbackNet('http', 2)],
]

describe.each(NETS)(
  'given two instances with a manager each, transports, shared headers, redirects and broken responses (%s)',
  (_, usual, mayMutate, open) => {
    let net: Net
    beforeAll(async () => {
      net = await open()
    })
    afterAll(() => net.close())

    it(
      'then no other origin receives a token, and no headers object keeps one (F42, F218, F219, P14)',
      async () => {
        const met = nothingMet()
        await fc.assert(
          fc.asyncProperty(originCourses(mayMutate), (course) => travelAcrossOrigins(course, net, met)),
          runs(usual),
        )
        // These courses go where a token could leak.
        expect(Math.min(...Object.values<number>({ ...met }))).toBeGreaterThan(usual / 20)
      },
      patience(usual),
    )
  },
)
