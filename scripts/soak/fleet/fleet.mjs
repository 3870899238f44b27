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
  #isEnding = false
  /** Processes that ended by themselves. */
  crashes = []

  /**
   * @param settings `{ watched, redisUrl, place, everyMs, exchangeTimeoutMs, commandTimeoutMs, history }`: the processes share tokens at `redisUrl`,
   * or at `place` (`{ kind, ports, client }`, or `{ kind, file, node }`); `history`: a file for the notes of all steps; `everyMs`: time between two
   * requests of a process.
   */
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

  get awake() {
    return this.workers.filter(({ isFrozen }) => !isFrozen)
  }

  /** @param atOnce Fifty at once would, on a busy machine, take longer to start than a caller waits for its first token. */
  async grow(count, atOnce = 4) {
    let left = count
    const start = async () => {
      while (left-- > 0) await this.#start()
    }
    await Promise.all(Array.from({ length: atOnce }, start))
  }

  /** Kills `count` processes, and starts as many. */
  async restart(count) {
    for (const { child } of this.awake.slice(0, count)) child.kill('SIGKILL')
    await this.grow(count)
  }

  /** The next process that reaches `step` of a lease gets `signal`, and so do others that are as quick. @returns The first of them. */
  async nextFalls(order) {
    const fallen = new Promise((resolve) => (this.#onFallen = resolve))
    this.tell({ order })
    const worker = await fallen
    this.#onFallen = () => undefined
    this.tell({ order: null })
    return worker
  }

  tell(message) {
    // With a callback, send() does not throw if the process has just been killed.
    for (const { child } of this.#workers) if (child.connected) child.send(message, () => undefined)
  }

  /** Lets all frozen processes go on. */
  thaw() {
    for (const worker of this.workers) {
      if (worker.isFrozen) awaken(worker)
      worker.child.kill('SIGCONT')
    }
  }

  /** What every process that is not frozen has met since its last report. Does not wait for a process that falls meanwhile. */
  async reports() {
    const reports = this.awake.map(async (worker) => {
      worker.asked ??= this.#ask(worker)
      const report = await Promise.race([worker.asked, worker.fallen])
      if (report === undefined) return []
      worker.asked = undefined
      return [{ name: worker.name, ...report }]
    })
    return (await Promise.all(reports)).flat()
  }

  async end() {
    this.#isEnding = true
    const ended = this.workers.map(({ child }) => once(child, 'exit'))
    this.tell({ end: true })
    const late = setTimeout(() => this.workers.forEach(({ child }) => child.kill('SIGKILL')), 15_000)
    await Promise.all(ended)
    clearTimeout(late)
  }

  async #ask({ child }) {
    const told = reply(child, 'report')
    child.send({ report: true }, () => undefined)
    // The process was killed.
    return told.then(({ report }) => report).catch(() => undefined)
  }

  async #start() {
    const name = `worker-${(this.#names += 1)}`
    const { node } = this.#settings.place ?? {}
    const child = fork(WORKER, {
      ...(node && { execPath: node, execArgv: ['--no-warnings'] }),
      env: { ...process.env, WORKER: JSON.stringify({ ...this.#settings, name }) },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    const worker = awaken({ name, child })
    this.#workers.add(worker)
    child.stdout.on('data', (signal) => {
      worker.isFrozen = String(signal).includes('STOP')
      worker.falls()
      this.#onFallen(worker)
    })
    child.once('exit', (code, signal) => {
      this.#workers.delete(worker)
      if (!this.#isEnding && signal !== 'SIGKILL') this.crashes.push(`${name}: ${signal ?? code}`)
    })
    await reply(child, 'ready')
  }
}

/** `fallen` resolves when the process `falls`. */
function awaken(worker) {
  worker.isFrozen = false
  worker.fallen = new Promise((resolve) => (worker.falls = resolve))
  return worker
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
