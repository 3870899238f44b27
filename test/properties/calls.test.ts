import { beforeAll, describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import type { DPoPKey } from '../../src/core/proofs.ts'
import { newKey } from '../dpop/support/keys.ts'
import { callCourses } from './call-course.ts'
import { callAndScramble, type CallNet, callsInMemory, callsOnLoopback, nothingMet } from './call-world.ts'
import { part } from '../support/part.ts'
import { patience, runs, usually } from './runs.ts'

const NETS: [string, number, () => CallNet | Promise<CallNet>][] = [
  ['a fetch in memory', usually(300), callsInMemory],
  ['Node’s fetch', part(120, 20), callsOnLoopback],
]

describe.each(NETS)(
  'given calls of fetch whose objects are changed as soon as each call returns (%s)',
  (_, usual, open) => {
    let key: DPoPKey
    beforeAll(async () => {
      key = await newKey()
    })

    it(
      'then what arrives, at first, after a wait, with a proof, after a 401, is what was called (F261, F262, F265)',
      async () => {
        const net = await open()
        const met = nothingMet()
        await fc.assert(
          fc.asyncProperty(callCourses, (course) => callAndScramble(course, net, key, met)),
          runs(usual),
        )
        // These courses go where a promise could be broken.
        expect(Math.min(...Object.values<number>({ ...met }))).toBeGreaterThan(usual / 10)
      },
      patience(usual),
    )
  },
)
