import { describe, it } from '@jest/globals'
import * as fc from 'fast-check'
import { type Act, courses } from './course.ts'
import type { Behaviour } from './rotating-service.ts'
import { part, share } from '../support/part.ts'
import { patience, runs } from './runs.ts'
import { undisturbed } from './undisturbed.ts'
import { travel } from './voyage.ts'

const unhandled = undisturbed()

describe.each([
  ['single-use refresh tokens', true, part(800, share(300, 100))],
  ['credentials alone', false, part(250, share(150, 50))],
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

describe('given a course that once looked like a broken promise', () => {
  // A step of more than 2 s looks like sleep, so the manager drops the new token and keeps the previous one, which
  // is valid. Its refresh token may be presented again after a 503. The test once judged the manager by the new token.
  it('when a step of the wall clock expires a token in transit, then the previous one stays in use (P22)', async () => {
    const refusals = Array<Behaviour>(8).fill({ ends: '503', takesMs: 0 })
    const ask = { maxWaitMs: undefined, slot: undefined }
    const acts: Act[] = [
      { act: 'ask', times: 1, ...ask },
      { act: 'replace', which: 'the last', ...ask },
      { act: 'step', ms: 2_001 },
      { act: 'approach', edge: 'its hard skew', offMs: -1 },
      { act: 'reset' },
    ]
    await travel(
      {
        pairs: true,
        lifetimes: { accessMs: 600_000, refreshMs: 5_000 },
        scripts: { obtain: [], refresh: [{ ends: 'accepted', takesMs: 1, leftMs: 1 }, ...refusals] },
        options: {},
        draws: [0],
        commands: acts.map((what) => ({ what, turns: undefined })),
      },
      unhandled,
    )
  })
})
