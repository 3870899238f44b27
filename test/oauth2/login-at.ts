import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { createTokenManager, type TokenStore } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { listen, outcome } from '../support/managed.ts'
import { answering } from '../service/world.ts'
import { sourceBehind } from './world.ts'

const MINUTE = 60_000
export type Answer = readonly [status: number, body: object | string]

/** Each has its own account: two managers of one login in a process are an anomaly (F434). */
let logins = 0

/** A login whose access token has expired, at a server that responds so to the n-th refresh. */
export async function loginAt(
  answerOf: (n: number) => Answer,
  options: Partial<OAuth2Options> = {},
  store?: TokenStore,
) {
  let calls = 0
  const source = sourceBehind(
    (config) => {
      const [status, body] = answerOf(calls)
      calls += 1
      return answering(typeof body === 'string' ? body : JSON.stringify(body), status)(config)
    },
    { grant: 'login', account: `somebody-${(logins += 1)}`, ...options },
  )
  const clock = manualClock()
  const tokens = createTokenManager({ source, clock, random: () => 0, ...(store && { store }) }) as LoginManager
  const told = listen(tokens, ['anomaly', 'suspicious'])
  await tokens.adopt({ refreshToken: 'refresh-of-nobody' })
  /** Calls twice a minute. @returns the codes, without repetitions */
  const asking = async (minutes: number) => {
    const codes = new Set<string>()
    for (let half = 0; half < 2 * minutes; half += 1) {
      const asked = outcome(tokens.getAccessToken())
      await clock.advance(MINUTE / 2)
      const end = await asked
      codes.add(typeof end === 'string' ? end : end.code)
    }
    return [...codes]
  }
  return { tokens, clock, told, asking, calls: () => calls }
}
