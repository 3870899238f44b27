import { describe, expect, it } from '@jest/globals'
import axios, { AxiosError } from 'axios'
import { attachBearer } from '../../src/index.ts'
import { inProcess } from '../axios/support/in-process.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { outcome } from '../support/managed.ts'
import { share } from '../support/part.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'

const SECONDS = 30
const CALLS = share(1_000, 100)
const REQUESTS = CALLS / 10
const TOKEN_CALLS = 6

/** Makes `callsPerSecond` calls a second for 30 s. Every 100 ms, a tenth of them start at once. */
async function spread(clock: ManualClock, callsPerSecond: number, call: () => Promise<void>): Promise<void> {
  for (let tenth = 0; tenth < SECONDS * 10; tenth += 1) {
    await Promise.all(Array.from({ length: callsPerSecond / 10 }, call))
    await clock.advance(100)
  }
}

describe('given an API that rejects every token, of 60 s each', () => {
  it(`when ${CALLS} calls a second ask for another one, then 6 token requests are made in 30 s at most (P10)`, async () => {
    const clock = manualClock()
    const { tokens, minted } = startTokens({ clock })
    let replays = 0
    let surfaced = 0
    await spread(clock, CALLS, async () => {
      const next = await outcome(tokens.replaceAccessToken(await tokens.getAccessToken()))
      if (typeof next === 'string') replays += 1
      else surfaced += 1
    })
    expect([replays + surfaced, minted.calls]).toEqual([SECONDS * CALLS, TOKEN_CALLS])
  })

  it('when requests meet it through axios, then each is sent twice at most, and ends in the 401 (P10)', async () => {
    const clock = manualClock()
    const { tokens, minted } = startTokens({ clock })
    const { adapter, calls } = inProcess(() => 401)
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    let surfaced = 0
    await spread(clock, REQUESTS, async () => {
      const error = await outcome<unknown>(api.get('/wallet'))
      if (error instanceof AxiosError && error.status === 401) surfaced += 1
    })
    expect([surfaced, minted.calls]).toEqual([SECONDS * REQUESTS, TOKEN_CALLS])
    expect(calls.length).toBeLessThanOrEqual(2 * surfaced)
  })
})
