import { afterEach, describe, expect, it } from '@jest/globals'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { run, withChildren } from '../faults/support/child.ts'
import { holdAnswer } from '../faults/support/held-responses.ts'

withChildren()

let service: SimulatedService
afterEach(() => service.close())

const CALLERS = 10_000
/** The first round also compiles, and a busy machine only adds time. So the shortest round counts. */
const ROUNDS = 3

describe('given a cold manager in a process of its own, and ten thousand callers at once', () => {
  it('when each waits with a signal of its own, then 1 POST is enough for them, for 3 KB each and 500 ms in all (P1, F93)', async () => {
    service = await startTokenService()
    const between = await holdAnswer(service.baseUrl, '/token/')
    const source = { baseUrl: between.baseUrl, ...service.client }
    const program = `
      // Processor time of all threads, because a process that waits for its turn does nothing.
      const used = () => { gc(); gc(); return process.memoryUsage().heapUsed }
      for (let round = 0; round < ${ROUNDS}; round += 1) {
        const tokens = createTokenManager({ source: clientCredentials(${JSON.stringify(source)}) })
        const signals = Array.from({ length: ${CALLERS} }, () => new AbortController().signal)
        const waits = new Array(${CALLERS})
        const empty = used()
        const asked = process.cpuUsage()
        for (let n = 0; n < ${CALLERS}; n += 1) waits[n] = tokens.getAccessToken({ signal: signals[n] })
        const asking = process.cpuUsage(asked)
        if (round === 0) {
          await heard('all wait')
          say('bytes ' + (used() - empty) / ${CALLERS})
        }
        const waiting = process.cpuUsage()
        const distinct = new Set(await Promise.all(waits))
        const serving = process.cpuUsage(waiting)
        say('round ' + [distinct.size, (asking.user + asking.system + serving.user + serving.system) / 1_000])
        await tokens.close()
      }
    `
    const child = run(program, ['--expose-gc'])
    await between.holding
    child.tell('all wait')
    const bytes = Number(await child.said('bytes '))
    between.release()
    expect([await child.ended, child.complaints]).toEqual([0, ''])
    const rounds = child.lines.slice(1).map((line) => line.slice('round '.length).split(',').map(Number))
    expect(rounds.map(([distinct]) => distinct)).toEqual(Array(ROUNDS).fill(1))
    expect([service.count('obtain'), between.received.length]).toEqual([ROUNDS, ROUNDS])
    expect(bytes).toBeLessThanOrEqual(3 * 1_024)
    expect(Math.min(...rounds.map(([, ms]) => ms!))).toBeLessThanOrEqual(500)
  })
})
