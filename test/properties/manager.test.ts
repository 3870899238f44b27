import { afterAll, beforeAll, beforeEach, describe, it, jest } from '@jest/globals'
import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import { courses } from './course.ts'
import { patience, runs } from './runs.ts'
import { travel } from './voyage.ts'

const unhandled: unknown[] = []
const record = (reason: unknown) => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', record))
afterAll(() => void process.off('unhandledRejection', record))

// Hashing on other threads would let the same course take another turn each time.
beforeEach(() => {
  jest.spyOn(crypto.subtle, 'digest').mockImplementation(
    async (_, data) =>
      new Uint8Array(
        createHash('sha256')
          .update(data as Uint8Array)
          .digest(),
      ).buffer,
  )
})

describe.each([
  ['single-use refresh tokens', true, 800],
  ['credentials alone', false, 250],
])('given %s, and any callers, clocks and service', (_, pairs, usual) => {
  it(
    'then the manager keeps its promises (P11, P12, P22)',
    async () => {
      await fc.assert(
        fc.asyncProperty(courses(pairs), (course) => travel(course, unhandled)),
        runs(usual),
      )
    },
    patience(usual),
  )
})
