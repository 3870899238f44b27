import { memoryStore, type TokenManagerOptions } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { sharedStore, type SharedStoreOptions, type TokenRegister } from '../../src/store/index.ts'
import { until } from '../service/world.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { Traffic } from '../support/traffic.ts'
import { type WatchedClock, watchedClock } from '../support/watched-clock.ts'
import { ENCRYPTION_KEYS } from './encryption-keys.ts'
import { KeptText } from './kept-text.ts'
import { openLogin } from './open-login.ts'
import { RotatingServer } from './rotating-server.ts'

export const ORDERS = 'https://orders.example.com'
export const STOCK = 'https://stock.example.com'

export interface World {
  readonly server: RotatingServer
  readonly clock: WatchedClock
  /** Of the keys in the register. */
  readonly prefix: string
  /** What stands in the register. */
  readonly kept: KeptText
  /** Reads what other processes have written. @param key Of the login. */
  readonly look: (key: string) => Promise<void>
  /** Opens a manager of the login: in the same process if there is no store, else as another process. */
  readonly open: (options?: Partial<OAuth2Options>, more?: Partial<TokenManagerOptions>) => LoginManager
  /** Time passes no faster than responses arrive. */
  readonly pass: (ms: number) => Promise<void>
  /** Waits until nothing is in flight. */
  readonly quiet: () => Promise<void>
}

/** The register of the next process. */
export type RegisterOf = (clock: WatchedClock, traffic: Traffic) => Promise<() => TokenRegister>

/** Where the record is. */
export interface Place {
  readonly name: string
  readonly registerOf?: RegisterOf
  readonly isSealed?: boolean
  /** Time passes in steps of this length. A command of a real store must not wait for longer, ms. Default 1 s. */
  readonly stepMs?: number
}

export const NO_STORE: Place = { name: 'no store' }
export const IN_MEMORY: Place = { name: 'memoryStore' }
export const A_REGISTER: Place = { name: 'a register', registerOf: inMemory }
export const A_SEALED_REGISTER: Place = { name: 'a sealed register', registerOf: inMemory, isSealed: true }

async function inMemory(clock: WatchedClock): Promise<() => TokenRegister> {
  const register = new MemoryRegister(clock)
  return () => register
}

let worlds = 0

export async function worldWith(place: Place): Promise<World> {
  const server = await new RotatingServer().start()
  const clock = watchedClock()
  const traffic = new Traffic()
  // A server has the records of many tests.
  const prefix = `world-${(worlds += 1)}`
  const options: SharedStoreOptions = {
    prefix,
    ...(place.isSealed && { encryptionKeys: ENCRYPTION_KEYS }),
  }
  const kept = new KeptText(options.encryptionKeys)
  const inProcess = place === IN_MEMORY ? memoryStore() : undefined
  const registerOf = await place.registerOf?.(clock, traffic)
  const storeOf = () => (registerOf ? sharedStore(kept.seen(registerOf()), options) : inProcess)
  const quiet = async () => {
    await traffic.idle()
    await until(() => server.inFlight === 0)
    await traffic.idle()
  }
  return {
    server,
    clock,
    prefix,
    kept,
    quiet,
    look: (key) => kept.read(registerOf!(), key),
    open(given, more) {
      return openLogin({ origin: server.origin, store: storeOf(), clock }, given, more)
    },
    async pass(ms) {
      const { stepMs = 1_000 } = place
      await quiet()
      for (let passed = 0; passed < ms; passed += stepMs) {
        await clock.advance(stepMs)
        await quiet()
      }
    },
  }
}
