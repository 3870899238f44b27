import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer, clientCredentials, loginPassword } from '../../src/index.ts'
import { inProcess } from '../axios/support/in-process.ts'
import { managerOf } from '../axios/support/tokens.ts'
import { TrueTime } from '../properties/true-time.ts'
import { adapterTo } from '../support/in-process-service.ts'
import { TokenServiceModel } from '../support/token-service-model.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

const API = 'https://api.example.com'
const HOUR = 3_600_000
const LIFETIME_MS = 60_000
/** The longest that the manager lets a caller wait after a renewal that was not forced. */
const STEP_MS = 1_000
const SECONDS = 120

/** Requests through axios to an API. The API and the token service use the true time, whatever the clock here shows. */
function startTraffic(variant: 'A' | 'B') {
  const clock = manualClock()
  const time = new TrueTime(clock)
  const startedAt = clock.wallNow()
  const trueWall = () => startedAt + time.now()
  const service = new TokenServiceModel({ ...clock, wallNow: trueWall })
  const ends = new Map<string, number>()
  const adapter = adapterTo(service, trueWall)
  const options = { baseUrl: 'https://tokens.example', transport: { adapter } }
  const source =
    variant === 'A'
      ? clientCredentials({ ...options, ...service.client })
      : loginPassword({ ...options, ...service.login })
  const tokens = managerOf(source, { clock })
  const left: number[] = []
  const { adapter: inside } = inProcess(({ authorization }) => {
    // The tokens were issued at the time of the request, because a token request takes no time.
    for (const access of service.issued) if (!ends.has(access)) ends.set(access, time.now() + LIFETIME_MS)
    const leftMs = (ends.get(String(authorization).slice('Bearer '.length)) ?? -Infinity) - time.now()
    left.push(leftMs)
    return leftMs > 0 ? 200 : 401
  })
  const api = axios.create({ adapter: inside, baseURL: API })
  attachBearer(api, tokens, { origins: [API] })
  /** One request, and the second that follows. */
  const second = async () => {
    const request = api.get('/wallet')
    await settle()
    await clock.advance(STEP_MS)
    await request
  }
  return { time, second, left, service }
}

const EVENTS: [string, (time: TrueTime) => void][] = [
  ['is set an hour ahead', (time) => time.step(HOUR)],
  ['is set back by an hour', (time) => time.step(-HOUR)],
  ['advances by an hour during sleep', (time) => time.sleep(HOUR)],
  [
    'is set an hour ahead during an hour of sleep',
    (time) => {
      time.sleep(HOUR)
      time.step(HOUR)
    },
  ],
]

/** @returns How many token requests two minutes of traffic cost, with `event` just before the request of second `at`. */
async function callsWith(variant: 'A' | 'B', event: (time: TrueTime) => void, at: number): Promise<number> {
  const { time, second, left, service } = startTraffic(variant)
  for (let n = 0; n < SECONDS; n += 1) {
    if (n === at) event(time)
    await second()
  }
  expect(left).toHaveLength(SECONDS)
  expect(Math.min(...left)).toBeGreaterThan(0)
  return service.heard.length
}

/** Seconds in the life of the second token, from fresh to just renewed. */
const MOMENTS = [46, 60, 75, 89, 90, 91]

describe.each(['A', 'B'] as const)('given tokens of 60 s by Variant %s, and a request each second', (variant) => {
  it.each(EVENTS)(
    'when the wall clock %s, then no expired token is sent, and one more renewal is made at most (P12)',
    async (_, event) => {
      const calm = await callsWith(variant, () => undefined, 0)
      const extra: number[] = []
      for (const moment of MOMENTS) extra.push((await callsWith(variant, event, moment)) - calm)
      expect(Math.max(...extra)).toBeLessThanOrEqual(1)
    },
  )
})

describe.each(['A', 'B'] as const)(
  'given an hour of sleep, and a clock that is then set back by two (Variant %s)',
  (variant) => {
    it('when no clock was read in between, then the expired token is sent once, and the 401 repairs it (F227)', async () => {
      const { time, second, left } = startTraffic(variant)
      await second()
      time.sleep(HOUR)
      time.step(-2 * HOUR)
      for (let n = 0; n < 5; n += 1) await second()
      expect(left.map((ms) => ms > 0)).toEqual([true, false, true, true, true, true, true])
    })

    it('when a clock was read in between, then no expired token is sent (F227)', async () => {
      const { time, second, left } = startTraffic(variant)
      await second()
      time.sleep(HOUR)
      await second()
      time.step(-2 * HOUR)
      for (let n = 0; n < 5; n += 1) await second()
      expect(Math.min(...left)).toBeGreaterThan(0)
    })
  },
)
