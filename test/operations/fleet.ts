import { AxiosError, type AxiosAdapter } from 'axios'
import { dice } from '../../scripts/lib/dice.mjs'
import { clientCredentials, createTokenManager, type TokenStore } from '../../src/index.ts'
import { instrument } from '../../src/opentelemetry/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { readableMeter } from '../opentelemetry/sdk.ts'
import { client, grantText, response } from '../service/world.ts'
import { MemoryRegister } from '../support/memory-register.ts'

/** What the token service does: it succeeds, fails with a status, or does not respond. */
export type Conduct = 'well' | 'hangs' | 400 | 429 | 503

export interface Scene {
  readonly replicas: number
  /** Between two requests of one replica. */
  readonly everyMs: number
  readonly isShared: boolean
  /** Of the access tokens. */
  readonly lifetimeMs: number
  /** Of the token service, at an instant of the scene. */
  readonly conduct: (now: number) => Conduct
  /** From this instant on a new process replaces each old one, one after the other. */
  readonly deployAt?: number
  readonly lastsMs: number
}

/** Requests of the scene, by the time of each call for a token. */
export interface Asked {
  readonly at: number
  readonly isServed: boolean
}

/** The processes of one job in virtual time: the real managers, their real sources and metrics, and a token service without sockets. */
export class Fleet {
  readonly clock: ManualClock = manualClock()
  readonly asked: Asked[] = []
  readonly #scene: Scene
  readonly #store: TokenStore | undefined
  readonly #running = new Map<number, Replica>()
  /** Old processes that still run, and end soon. */
  readonly #ending = new Set<Replica>()
  #started = 0
  #issued = 0

  constructor(scene: Scene) {
    this.#scene = scene
    const register = new MemoryRegister(this.clock)
    if (scene.isShared) this.#store = sharedStore(register, { encryptionKeys: [{ id: 'one', key: KEY }] })
    for (let place = 0; place < scene.replicas; place += 1) this.#start(place)
    if (scene.deployAt !== undefined)
      for (let place = 0; place < scene.replicas; place += 1)
        this.clock.setTimer(() => this.#replace(place), scene.deployAt + place * DEPLOY_STEP_MS)
  }

  /** The metrics that Prometheus would read now, by instance. */
  async scrape(): Promise<Map<string, string>> {
    const texts = [...this.#running.values(), ...this.#ending].map(
      async (one) => [one.instance, await one.scrape()] as const,
    )
    return new Map(await Promise.all(texts))
  }

  #start(place: number): void {
    this.#started += 1
    const replica = new Replica(`pod-${this.#started}`, this.clock, this.#started, {
      adapter: (config) => this.#answer(config),
      ...(this.#store && { store: this.#store }),
    })
    this.#running.set(place, replica)
    const { everyMs, replicas } = this.#scene
    const ask = () => {
      if (this.#running.get(place) !== replica) return
      this.clock.setTimer(ask, everyMs)
      const at = this.clock.monotonicNow()
      void replica.ask().then((isServed) => this.asked.push({ at, isServed }))
    }
    // Not all in the same instant.
    this.clock.setTimer(ask, ((place + 0.5) * everyMs) / replicas)
  }

  /** A rolling deployment: the new process starts, then the old one closes its manager, while requests may still arrive there. */
  #replace(place: number): void {
    const old = this.#running.get(place)
    this.#start(place)
    if (!old) return
    this.#ending.add(old)
    this.clock.setTimer(() => this.#ending.delete(old), ENDS_WITHIN_MS)
    void old.end()
    void old.ask()
  }

  #answer: AxiosAdapter = (config) => {
    const conduct = this.#scene.conduct(this.clock.monotonicNow())
    if (conduct === 'hangs')
      return new Promise((_, reject) => {
        const { signal } = config
        signal?.addEventListener?.('abort', () => reject(new AxiosError('cancelled', 'ERR_CANCELED', config)))
      })
    const Date = new globalThis.Date(this.clock.wallNow()).toUTCString()
    const expires_in = String(this.#scene.lifetimeMs / 1_000)
    // Returning an expired token again would not be a renewal (F375).
    const access = `"issued-token-${(this.#issued += 1)}"`
    const [status, text] = conduct === 'well' ? [200, grantText({ access, expires_in })] : [conduct, '{}']
    return Promise.resolve(response(config, text, status, { Date }))
  }
}

const KEY = Uint8Array.from({ length: 32 }, (_, n) => n)
const DEPLOY_STEP_MS = 4_000
const ENDS_WITHIN_MS = 30_000

/** One process. */
class Replica {
  readonly instance: string
  readonly #tokens
  readonly #stop: () => void
  readonly #metrics = readableMeter()

  constructor(
    instance: string,
    clock: ManualClock,
    seed: number,
    { adapter, store }: { adapter: AxiosAdapter; store?: TokenStore },
  ) {
    this.instance = instance
    const source = clientCredentials({ ...client, baseUrl: 'https://tokens.example/api', transport: { adapter } })
    this.#tokens = createTokenManager({ source, clock, random: dice(seed).random, ...(store && { store }) })
    this.#stop = instrument(this.#tokens, { meter: this.#metrics.meter, attributes: { 'evergreen.account': 'bakery' } })
  }

  ask(): Promise<boolean> {
    return this.#tokens.getAccessToken().then(
      () => true,
      () => false,
    )
  }

  scrape(): Promise<string> {
    return this.#metrics.read()
  }

  /** As the operations page says: close, then end the reports. */
  async end(): Promise<void> {
    await this.#tokens.close()
    this.#stop()
  }
}
