import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer } from '../../src/index.ts'
import { startApi } from '../axios/support/api-server.ts'
import { managerOf, mint } from '../axios/support/tokens.ts'
import { failureOf, until } from '../axios/support/turns.ts'

const CALLERS = 100
const thrown = () => {
  throw new Error('of a listener')
}

/** A hundred requests that wait for a token, by the real clocks, beside listeners that fail at all they hear. */
async function waiting(adapter: 'http' | 'fetch') {
  const server = await startApi()
  const minted = mint()
  minted.hold()
  const tokens = managerOf(minted.source)
  for (const listener of [() => Promise.reject(new Error('of a listener')), thrown, () => new Promise(() => {})])
    for (const name of ['renewed', 'retry', 'renewalFailed', 'anomaly'] as const) tokens.on(name, listener)
  const api = axios.create({ adapter, baseURL: server.baseUrl })
  attachBearer(api, tokens)
  const requests = Array.from({ length: CALLERS }, (_, n) => {
    const controller = new AbortController()
    let endedAt: number | undefined
    const answer = api.get(`/${n}`, { signal: controller.signal })
    void answer.catch(() => undefined).finally(() => (endedAt = performance.now()))
    return { controller, answer, endedAt: () => endedAt }
  })
  await until(() => minted.calls === 1)
  return { server, minted, requests }
}

describe.each(['http', 'fetch'] as const)(
  'given a hundred requests that wait for one renewal (%s adapter)',
  (adapter) => {
    it('when they are aborted one by one but the last, then each alone rejects, within 10 ms (P17)', async () => {
      const { server, minted, requests } = await waiting(adapter)
      const last = requests.at(-1)!
      const took: number[] = []
      for (const { controller, answer, endedAt } of requests.slice(0, -1)) {
        const abortedAt = performance.now()
        controller.abort()
        // One turn of the event loop, whatever else this machine is at.
        await new Promise((resolve) => setImmediate(resolve))
        expect(axios.isCancel(await failureOf(answer))).toBe(true)
        took.push(endedAt()! - abortedAt)
        expect(requests.filter((request) => request.endedAt() !== undefined)).toHaveLength(took.length)
      }
      expect(took.reduce((sum, ms) => sum + ms) / took.length).toBeLessThan(10)
      minted.release()
      expect((await last.answer).status).toBe(200)
      expect([server.received.map(({ url }) => url), minted.calls]).toEqual([[`/${CALLERS - 1}`], 1])
    })
  },
)
