import { systemClock } from '../core/clock.ts'
import { withinLimit } from '../core/deadline.ts'
import { TokenError } from '../core/errors.ts'
import { randomHex } from '../core/digest.ts'
import { bare } from '../core/whole.ts'
import { type WorkerResponse, type Port, REQUEST_KEY, type PageRequest, type Notification } from './worker-messages.ts'

/** A target for messages: a dedicated worker, a service worker, or the port of a shared worker. */
export interface Postable {
  postMessage(message: unknown, transfer: never): void
}

/** Sends the requests of one page to the worker. Each has its own port for the response. The port of the last `connect` stays open for events. */
export class Link {
  readonly #worker: Postable
  readonly #page = randomHex()
  /** Rejects the pending requests. */
  readonly #waits = new Set<(error: Error) => void>()
  #events: Port | undefined
  onEvent: (notification: Notification) => void = () => undefined
  /** The worker has ended. Not every browser reports it. */
  onLost: () => void = () => undefined

  constructor(worker: Postable) {
    this.#worker = worker
  }

  /**
   * @returns The response. It may hold an error.
   * @throws {TokenError} `ERR_WAIT_TIMEOUT` if there is none; or the error passed to `close`.
   */
  ask(
    name: string,
    ms: number,
    details: Pick<PageRequest, 'given' | 'login' | 'isOfNext'> = {},
  ): Promise<WorkerResponse> {
    const { port1, port2 } = new MessageChannel()
    const port = port1 as unknown as Port
    let end!: (error: Error) => void
    const responded = new Promise<WorkerResponse>((resolve, reject) => {
      end = reject
      this.#waits.add(end)
      port.addEventListener('message', ({ data }) => {
        const message = bare(data as WorkerResponse | Notification)
        if ('event' in message) this.onEvent(message)
        else resolve(message)
      })
      port.addEventListener('close', () => {
        reject(noResponse('ended before it responded'))
        if (port === this.#events) this.onLost()
      })
    })
    port.start()
    this.#worker.postMessage({ [REQUEST_KEY]: { ...details, name, page: this.#page } satisfies PageRequest }, [
      port2,
    ] as never)
    const atLimit = () => noResponse('did not respond')
    return withinLimit(responded, { clock: systemClock, ms, holdsProcess: true, atLimit })
      .then((response) => {
        if (name === 'connect') this.#listen(port)
        return response
      })
      .finally(() => {
        this.#waits.delete(end)
        if (port !== this.#events) port.close()
      })
  }

  close(error: Error): void {
    this.onLost = () => undefined
    for (const end of this.#waits) end(error)
    this.#listen(undefined)
  }

  #listen(port: Port | undefined): void {
    const before = this.#events
    this.#events = port
    before?.close()
    // Events keep no process alive.
    port?.unref?.()
  }
}

function noResponse(what: string): TokenError {
  return new TokenError('ERR_WAIT_TIMEOUT', `The worker ${what}: does it call exposeTokens()?`)
}
