import { afterEach, describe, it } from '@jest/globals'
import * as fc from 'fast-check'
import type { LoginManager } from '../../src/login/index.ts'
import { connectTokens, exposeTokens } from '../../src/web/index.ts'
import { patience, runs, usually } from './runs.ts'
import { isNobodyElse, servedAs, toldCourses, toldInTurn } from './told-course.ts'
import { undisturbed } from './undisturbed.ts'

undisturbed()

const endings: (() => void)[] = []
afterEach(() => endings.splice(0).forEach((end) => end()))

const USUAL = usually(1_200)

describe('given two logins, one soon after the other, over a store that is slow or silent', () => {
  it(
    'when a listener of the same process sends requests, then none is executed as somebody else than it was told (F400)',
    () => fc.assert(fc.asyncProperty(toldCourses, toldInTurn), runs(USUAL)),
    patience(USUAL),
  )

  it(
    'when another page of the worker sends requests, then none is executed as somebody else than it was told (F400)',
    () => {
      const judgeOf = async (tokens: LoginManager) => {
        const { port1, port2 } = new MessageChannel()
        const stop = exposeTokens(tokens, port2)
        endings.push(
          stop,
          () => port1.close(),
          () => port2.close(),
        )
        return connectTokens(port1)
      }
      const turn = async () => {
        for (let n = 0; n < 4; n += 1) await new Promise((resolve) => setImmediate(resolve))
      }
      return fc.assert(
        fc.asyncProperty(toldCourses, async (course) => isNobodyElse(await servedAs(course, judgeOf, turn))),
        runs(Math.ceil(USUAL / 4)),
      )
    },
    patience(USUAL),
  )
})
