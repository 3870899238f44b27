import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { lastLoginCourses } from './last-login-course.ts'
import { nothingStood, travelToLastLogin } from './last-login-voyage.ts'
import { toldCourses, toldInTurn } from './told-course.ts'
import { laterStands, twoActs } from './two-acts-course.ts'

// How many courses find a mend that was taken out: node scripts/explore/removed.mjs. Arguments: the property, its runs, and a seed.
const [property = '', numRuns, seed] = process.argv.slice(2)

Object.assign(globalThis, { runningProcess: { answered: 0 } })
// Hashing on other threads would give the same course another order of events each time.
crypto.subtle.digest = async (_, data) =>
  new Uint8Array(
    createHash('sha256')
      .update(data as Uint8Array)
      .digest(),
  ).buffer

const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => void unhandled.push(reason))

const PROPERTIES: Record<string, () => fc.IAsyncProperty<unknown>> = {
  'two-acts': () => fc.asyncProperty(twoActs, laterStands),
  'told-in-turn': () => fc.asyncProperty(toldCourses, toldInTurn),
  logins: () => fc.asyncProperty(lastLoginCourses, (course) => travelToLastLogin(course, unhandled, nothingStood())),
}
const found = await fc.check(PROPERTIES[property]!(), {
  numRuns: Number(numRuns),
  seed: Number(seed),
  endOnFailure: true,
})
console.log(
  `${property}, seed ${seed}: ${found.failed ? `found after ${found.numRuns}` : `held, ${found.numRuns} courses`}`,
)
process.exit()
