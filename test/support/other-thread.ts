import { Worker } from 'node:worker_threads'
import { type Clock, systemClock } from '../../src/core/clock.ts'

const [RECEIVED, ANSWERED, GATE] = [0, 1, 2]

/**
 * Starts a thread with its own sockets, which keeps running while this thread is busy. It listens, and responds to each HTTP
 * request with a body, or passes bytes to and from a server.
 */
export async function startOtherThread(does: { answer: string } | { handOnTo: number }) {
  const state = new Int32Array(new SharedArrayBuffer(12))
  Atomics.store(state, GATE, 1)
  const worker = new Worker(PROGRAM, { eval: true, workerData: { does, state, RECEIVED, ANSWERED, GATE } })
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  return {
    port,
    /** Holds the next response. Resolves when that response has reached the thread. */
    async hold(): Promise<void> {
      state.fill(0)
      while (Atomics.load(state, RECEIVED) === 0) await new Promise((resolve) => setImmediate(resolve))
    },
    /** Releases the response, and keeps this thread busy until the response is in the socket, unread. */
    stallUntilAnswered(): void {
      Atomics.store(state, GATE, 1)
      Atomics.notify(state, GATE)
      Atomics.wait(state, ANSWERED, 0)
    },
    async stop(): Promise<void> {
      await worker.terminate()
    },
  }
}

const PROGRAM = `
const { workerData, parentPort } = require('node:worker_threads')
const { does, state, RECEIVED, ANSWERED, GATE } = workerData
const { connect, createServer } = require('node:net')
const http = require('node:http')
const passGate = () => {
  Atomics.store(state, RECEIVED, 1)
  Atomics.wait(state, GATE, 0)
}
const answered = () => {
  Atomics.store(state, ANSWERED, 1)
  Atomics.notify(state, ANSWERED)
}
const answering = () =>
  http.createServer((request, reply) =>
    request.resume().on('end', () => {
      passGate()
      reply.end(does.answer, () => setImmediate(answered))
    }),
  )
const handingOn = () =>
  createServer((client) => {
    const upstream = connect(does.handOnTo, '127.0.0.1')
    for (const [one, other] of [[client, upstream], [upstream, client]])
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk) => {
      passGate()
      client.write(chunk, answered)
    })
  })
const server = 'answer' in does ? answering() : handingOn()
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

/** Time advances in `stall` only. As in Node, overdue timers run before any socket is read. */
export class BusyClock implements Clock {
  #now = 1_000
  readonly #timers = new Map<() => void, number>()

  wallNow = () => this.#now
  monotonicNow = () => this.#now

  setTimer = (callback: () => void, delayMs: number, holdsProcess = false): (() => void) => {
    if (delayMs <= 0) return systemClock.setTimer(callback, 0, holdsProcess)
    const timer = () => callback()
    this.#timers.set(timer, this.#now + delayMs)
    return () => void this.#timers.delete(timer)
  }

  stall(ms: number): void {
    this.#now += ms
    for (const [timer, at] of this.#timers) {
      if (at > this.#now) continue
      this.#timers.delete(timer)
      timer()
    }
  }
}
