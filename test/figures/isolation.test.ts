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

/** A hundred requests that wait for a token, on real clocks. Each listener fails, or never ends. */
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
    let isEnded = false
    const answer = api.get(`/${n}`, { signal: controller.signal })
    void answer.catch(() => undefined).finally(() => (isEnded = true))
    return { controller, answer, isEnded: () => isEnded }
  })
  await until(() => minted.calls === 1)
  return { server, minted, requests }
}

describe.each(['http', 'fetch'] as const)(
  'given a hundred requests that wait for one renewal (%s adapter)',
  (adapter) => {
    it('when all but the last are aborted one by one, then only they reject, within one turn of the event loop (P17)', async () => {
      const { server, minted, requests } = await waiting(adapter)
      const last = requests.at(-1)!
      for (const [n, { controller, answer }] of requests.slice(0, -1).entries()) {
        controller.abort()
        await new Promise((resolve) => setImmediate(resolve))
        expect(requests.map((request) => request.isEnded())).toEqual(requests.map((_, other) => other <= n))
        expect(axios.isCancel(await failureOf(answer))).toBe(true)
      }
      minted.release()
      expect((await last.answer).status).toBe(200)
      expect([server.received.map(({ url }) => url), minted.calls]).toEqual([[`/${CALLERS - 1}`], 1])
    })
  },
)
