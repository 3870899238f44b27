import { describe, it } from '@jest/globals'
import * as fc from 'fast-check'
import { patience, runs, usually } from './runs.ts'
import { laterStands, twoActs } from './two-acts-course.ts'
import { undisturbed } from './undisturbed.ts'

undisturbed()

const USUAL = usually(1_500)

describe('given two acts of one manager, and a store whose steps each take their own time', () => {
  it(
    'when both have reached the store, then the later call stands, in the record and in the manager (F399)',
    () => fc.assert(fc.asyncProperty(twoActs, laterStands), runs(USUAL)),
    patience(USUAL),
  )
})
