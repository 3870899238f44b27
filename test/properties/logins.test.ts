import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { type LoginAct, loginCourses } from './login-course.ts'
import { nothingSent } from './login-traffic.ts'
import { travelWithLogins } from './login-voyage.ts'
import { part } from '../support/part.ts'
import { patience, runs } from './runs.ts'
import { undisturbed } from './undisturbed.ts'

const unhandled = undisturbed()

const USUAL = part(400, 120)

describe('given two managers, attachments that come and go, three people who log in and out, and requests in flight', () => {
  it(
    'then no request has the token of another login, and everything ends (F209, F210)',
    async () => {
      const sent = nothingSent()
      await fc.assert(
        fc.asyncProperty(loginCourses, (course) => travelWithLogins(course, unhandled, sent)),
        runs(USUAL),
      )
      // These courses go where the promises could be broken.
      expect(Math.min(...Object.values<number>({ ...sent }))).toBeGreaterThan(USUAL / 10)
    },
    patience(USUAL),
  )
})

describe('given a login that the store could not be told, and the store has kept the one before it', () => {
  it('when the API refuses a token of the new login, then the request does not get a token of the old one (F209)', async () => {
    const acts: LoginAct[] = [
      { act: 'logout', at: 0 },
      { act: 'login', at: 1, who: 'carol', brings: 'both' },
      { act: 'register', is: 'down' },
      { act: 'login', at: 1, who: 'alice', brings: 'both' },
      { act: 'request', door: 'axios', at: 1, times: 1, takesMs: 10, pauseMs: 0, shares: false },
      { act: 'refuse', at: 1 },
    ]
    const sent = nothingSent()
    const commands = acts.map((what) => ({ what, turns: undefined }))
    await travelWithLogins({ store: 'register', draws: [0], commands }, unhandled, sent)
    expect(sent).toMatchObject({ requests: 1, replayed: 0 })
  })
})
