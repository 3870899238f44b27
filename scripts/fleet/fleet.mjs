import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))

let fleets = 0

/** Real processes that share one token. */
export class Fleet {
  #settings
  #workers = new Set()
  #names = 0
  #onFallen = () => undefined

  /** @param settings `{ watched, redisUrl, everyMs, exchangeTimeoutMs }`: `everyMs` between two requests of a process. */
  constructor({ watched, ...settings }) {
    const { service, tokenUrl } = watched
    const prefix = `soak-${process.pid}-${(fleets += 1)}`
    this.#settings = { ...settings, apiUrl: service.baseUrl, tokenUrl, login: service.login, prefix }
    // A frozen process would outlive this one.
    process.once('exit', () => this.workers.forEach(({ child }) => child.kill('SIGKILL')))
  }

  get workers() {
    return [...this.#workers]
  }

  async grow(count) {
    await Promise.all(Array.from({ length: count }, () => this.#start()))
  }

  /** The next process that is granted a claim, and any that is as quick, gets `signal` at `step`. @returns the first. */
  async nextFalls(order, withinMs) {
    const fallen = new Promise((resolve, reject) => {
      this.#onFallen = resolve
      setTimeout(() => reject(new Error(`Nobody came to '${order.step}' in ${withinMs} ms`)), withinMs).unref()
    })
    this.tell({ order })
    const worker = await fallen
    this.#onFallen = () => undefined
    this.tell({ order: null })
    return worker
  }

  tell(message) {
    // With a callback it is no error that a process has just been killed.
    for (const { child } of this.#workers) if (child.connected) child.send(message, () => undefined)
  }

  /** Lets go on whoever has been frozen. */
  thaw() {
    for (const worker of this.workers) {
      worker.isFrozen = false
      worker.child.kill('SIGCONT')
    }
  }

  /** What every process that is not frozen has met since its last report. */
  reports() {
    const awake = this.workers.filter(({ isFrozen }) => !isFrozen)
    return Promise.all(
      awake.map(async ({ child, name }) => {
        const told = reply(child, 'report')
        child.send({ report: true }, () => undefined)
        return { name, ...(await told).report }
      }),
    )
  }

  async end() {
    const ended = this.workers.map(({ child }) => once(child, 'exit'))
    this.tell({ end: true })
    const late = setTimeout(() => this.workers.forEach(({ child }) => child.kill('SIGKILL')), 15_000)
    await Promise.all(ended)
    clearTimeout(late)
  }

  async #start() {
    const name = `worker-${(this.#names += 1)}`
    const child = fork(WORKER, {
      env: { ...process.env, WORKER: JSON.stringify({ ...this.#settings, name }) },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    const worker = { name, child, isFrozen: false }
    this.#workers.add(worker)
    child.stdout.on('data', (signal) => {
      worker.isFrozen = String(signal).includes('STOP')
      this.#onFallen(worker)
    })
    child.once('exit', () => this.#workers.delete(worker))
    await reply(child, 'ready')
  }
}

function reply(child, what) {
  return new Promise((resolve, reject) => {
    const over = (code, signal) => end(reject, new Error(`A process ended before its ${what}: ${code ?? signal}`))
    const heard = (message) => what in message && end(resolve, message)
    const end = (settle, value) => {
      child.off('message', heard).off('exit', over)
      settle(value)
    }
    child.on('message', heard).on('exit', over)
  })
}
