import { createTokenManager, memoryStore, type TokenManagerOptions } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { sharedStore, type SharedStoreOptions, type TokenRegister } from '../../src/store/index.ts'
import { until } from '../service/world.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { Traffic } from '../support/traffic.ts'
import { type WatchedClock, watchedClock } from '../support/watched-clock.ts'
import { KeptText } from './kept-text.ts'
import { RotatingServer } from './rotating-server.ts'

export const ORDERS = 'https://orders.example.com'
export const STOCK = 'https://stock.example.com'

/** Records in a real store are sealed with it. */
export const encryptionKeys: SharedStoreOptions['encryptionKeys'] = [
  { id: 'key-1', key: Uint8Array.from({ length: 32 }, (_, at) => at) },
]

export interface World {
  readonly server: RotatingServer
  readonly clock: WatchedClock
  /** What stands in the register. */
  readonly kept: KeptText
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
  const options: SharedStoreOptions = {
    prefix: `world-${(worlds += 1)}`,
    ...(place.isSealed && { encryptionKeys }),
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
    kept,
    quiet,
    open(options, more) {
      const endpoints = { tokenEndpoint: `${server.origin}/token`, revocationEndpoint: `${server.origin}/revoke` }
      const source = oauth2({ ...endpoints, clientId: 'app', account: 'one', ...options, grant: 'login' })
      const store = storeOf()
      const tokens = createTokenManager({ source, ...(store && { store }), clock, random: () => 0, ...more })
      tokens.onAny(() => undefined)
      return tokens as LoginManager
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
