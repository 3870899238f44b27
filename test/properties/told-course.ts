import * as fc from 'fast-check'
import { createTokenManager } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { delayed, type Delays } from '../support/drawn-delays.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { delays } from './delays.ts'
import { LastLoginService } from './last-login-service.ts'

export interface Told {
  readonly delays: Delays
  /** The store responds to no step after the first login. */
  readonly isSilent: boolean
  /** The first login is found in the store, so only the fingerprint of its user is known. */
  readonly isFound: boolean
  readonly isNamed: boolean
  readonly gapMs: number
}

export const toldCourses: fc.Arbitrary<Told> = fc.record({
  delays,
  isSilent: fc.boolean(),
  isFound: fc.boolean(),
  isNamed: fc.boolean(),
  gapMs: fc.constantFrom(0, 1, 30, 100, 340),
})

/** How often the listener checks who is logged in, and sends a request, virtual ms. */
const EVERY_MS = 10

/** Alice logs in, and Bob soon after. @returns whom each request served that was sent by a caller who had been told of Alice only. */
export async function servedAs(
  course: Told,
  judgeOf: (tokens: LoginManager) => Promise<LoginManager>,
  turn: () => Promise<void>,
) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const service = new LastLoginService()
  let isSilent = false
  const way = delayed(register, clock, course.delays)
  const silent: TokenRegister = {
    kind: 'silent',
    read: (...given) => (isSilent ? new Promise(() => undefined) : way.read(...given)),
    replace: (...given) => (isSilent ? new Promise(() => undefined) : way.replace(...given)),
  }
  const open = (to: TokenRegister) =>
    createTokenManager({
      source: service,
      store: sharedStore(to, { commandTimeoutMs: 1_000 }),
      clock,
      random: () => 0.3,
    })
  const grantOf = (who: 'alice' | 'bob') => {
    const { subject: _, ...grant } = service.logIn(who).grant
    return course.isNamed ? { ...grant, subject: who } : grant
  }
  const tokens = open(silent)
  const judge = await judgeOf(tokens)
  let told = 0
  judge.on('loginChanged', ({ login }) => void (told += login === 'present' ? 1 : 0))
  tokens.on('storeUnavailable', () => undefined)
  tokens.on('anomaly', () => undefined)
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= EVERY_MS) {
      await clock.advance(Math.min(EVERY_MS, left))
      await turn()
    }
  }
  if (course.isFound) {
    void open(register).adopt(grantOf('alice'))
    await clock.advance(1_000)
    void tokens.getAccessToken()
  } else tokens.adopt(grantOf('alice')).catch(() => undefined)
  isSilent = course.isSilent && !course.isFound
  await pass(course.isFound ? 3_000 : course.gapMs)
  isSilent ||= course.isSilent
  await turn()
  tokens.adopt(grantOf('bob')).catch(() => undefined)
  // Requests count from the turn after `adopt()`.
  await turn()
  const served: Promise<string | undefined>[] = []
  for (let n = 0; n < 60; n += 1) {
    if (told === 1)
      served.push(
        judge.getAccessToken().then(
          (token) => service.sessionOf(token)?.who,
          () => undefined,
        ),
      )
    await pass(EVERY_MS * 2)
  }
  await pass(400)
  void tokens.close()
  await clock.advance(60_000)
  await turn()
  await judge.close()
  return Promise.all(served)
}

/** A listener of the same process is the judge. @throws if a request is executed as somebody else than it was told. */
export async function toldInTurn(course: Told): Promise<void> {
  isNobodyElse(
    await servedAs(
      course,
      async (tokens) => tokens,
      () => new Promise((resolve) => setImmediate(resolve)),
    ),
  )
}

/** @throws if a caller who had been told of Alice was served Bob. */
export function isNobodyElse(served: readonly (string | undefined)[]): void {
  if (served.includes('bob')) throw new Error('a request of a user who was told of Alice is executed as Bob')
}
