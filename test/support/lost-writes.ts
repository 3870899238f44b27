import { expect } from '@jest/globals'
import type { TokenManager, TokenStore } from '../../src/index.ts'
import type { ManualClock } from '../../tools/testing/manual-clock.ts'
import { printFigure } from './figure.ts'
import { manage, outcome, type ScriptedSource } from './managed.ts'
import { StrictService } from './strict-service.ts'
import type { Traffic } from './traffic.ts'

/** A real store that will lose writes. */
export interface LosingPlace {
  readonly name: string
  /** The store of one process. */
  store(): TokenStore
  /** The store will lose what is written from now on. */
  part(): Promise<void>
  /** The store loses these writes, and serves again. */
  lose(): Promise<void>
}

const LOGINS = 20
/**
 * By lifetime, the longest wait. A short token may expire before the process with the newer one checks the record: the default `maxStalenessMs`, and the 2 s
 * after which the others ask again. A longer one does not. But its refresh token is in doubt, so it is presented only once the access token has expired.
 */
const LONGEST_MS = { 60_000: 32_000, 300_000: 2_000 }
const LIFETIMES_MS = [60_000, 300_000] as const

/** Asks for tokens once a second, and measures how long its callers are without one. */
class Process {
  readonly tokens: TokenManager
  /** Since the store lost writes. */
  longestMs = 0
  #since: number | undefined

  constructor(tokens: TokenManager) {
    this.tokens = tokens
  }

  async ask(clock: ManualClock): Promise<void> {
    const since = (this.#since ??= clock.monotonicNow())
    const answer = await outcome(this.tokens.getAccessToken())
    if (typeof answer !== 'string') return
    this.longestMs = Math.max(this.longestMs, clock.monotonicNow() - since)
    this.#since = undefined
  }

  get isServed(): boolean {
    return this.#since === undefined
  }
}

/**
 * Twenty logins, each in three processes, whose users ask once a second. The store loses the last renewal of each. The service ends a login whose refresh
 * token is presented twice.
 */
export async function liveThroughLoss(place: LosingPlace, clock: ManualClock, traffic: Traffic): Promise<void> {
  const logins = Array.from({ length: LOGINS }, (_, n) => {
    const lifetimeMs = n % 2 ? 300_000 : 60_000
    const service = new StrictService(lifetimeMs)
    const options = { storeKey: `user ${n}`, renewal: { keepWarm: 'never', jitter: 0 } } as const
    const process = () => manage(service.source() as ScriptedSource, { ...options, store: place.store() }, clock).tokens
    const first = process()
    return { lifetimeMs, service, first, processes: [first, process(), process()].map((tokens) => new Process(tokens)) }
  })
  const begun: typeof logins = []
  const second = async () => {
    for (const { processes } of begun) for (const one of processes) void one.ask(clock)
    for (let quarter = 0; quarter < 4; quarter += 1) {
      await traffic.idle()
      await clock.advance(250)
    }
    await traffic.idle()
  }
  // Their tokens end at different times after the loss.
  for (const login of logins) {
    const adopted = login.first.adopt(login.service.grant())
    begun.push(login)
    for (let n = 0; n < 2; n += 1) await second()
    await adopted
  }
  await place.part()
  const renewed = logins.map(({ first }) => first.renew())
  for (let n = 0; n < 3; n += 1) await second()
  await Promise.all(renewed)
  await place.lose()
  for (const { processes } of logins) for (const one of processes) one.longestMs = 0
  for (let n = 0; n < 320; n += 1) await second()

  const lost = logins.filter(({ service, processes }) => service.hasEnded || !processes.every((one) => one.isServed))
  const twice = logins.filter(({ service: { presented } }) => new Set(presented).size < presented.length)
  printFigure(place.name, `${LOGINS - lost.length} of ${LOGINS} logins kept, ${twice.length} presented a token twice`)
  expect([lost.length, twice.length]).toEqual([0, 0])
  for (const lifetimeMs of LIFETIMES_MS) {
    const of = logins.filter((login) => login.lifetimeMs === lifetimeMs).flatMap(({ processes }) => processes)
    const waits = of.map(({ longestMs }) => longestMs).filter((ms) => ms > 0)
    const longestMs = Math.max(0, ...waits)
    const how = waits.length > 0 ? `, for at most ${longestMs / 1_000} s` : ''
    printFigure(place.name, `tokens of ${lifetimeMs / 1_000} s: ${waits.length} of ${of.length} processes waited${how}`)
    expect(longestMs).toBeLessThanOrEqual(LONGEST_MS[lifetimeMs])
  }
}
