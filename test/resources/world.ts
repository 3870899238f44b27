import { createTokenManager, memoryStore, type TokenManagerOptions, type TokenStore } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { until } from '../service/world.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle, type WatchedClock, watchedClock } from '../support/watched-clock.ts'
import { RotatingServer } from './rotating-server.ts'

export const ORDERS = 'https://orders.example.com'
export const STOCK = 'https://stock.example.com'

export interface World {
  readonly server: RotatingServer
  readonly clock: WatchedClock
  readonly register: MemoryRegister
  /** Opens a manager of the login: in the same process if there is no store, else as another process. */
  readonly open: (options?: Partial<OAuth2Options>, more?: Partial<TokenManagerOptions>) => LoginManager
  /** Time passes no faster than responses arrive. */
  readonly pass: (ms: number) => Promise<void>
  /** Waits until nothing is in flight. */
  readonly quiet: () => Promise<void>
}

type Observed = Pick<LoginManager, 'status'>

export const STORES = ['no store', 'memoryStore', 'a register'] as const

export async function worldWith(store: (typeof STORES)[number]): Promise<World> {
  const server = await new RotatingServer().start()
  const clock = watchedClock()
  const register = new MemoryRegister(clock)
  const kept: TokenStore | undefined =
    store === 'no store' ? undefined : store === 'memoryStore' ? memoryStore() : sharedStore(register)
  const managers: Observed[] = []
  const quiet = async () => {
    await settle()
    await until(() => server.inFlight === 0)
    await settle()
  }
  return {
    server,
    clock,
    register,
    quiet,
    open(options, more) {
      const endpoints = { tokenEndpoint: `${server.origin}/token`, revocationEndpoint: `${server.origin}/revoke` }
      const source = oauth2({ ...endpoints, clientId: 'app', account: 'one', ...options, grant: 'login' })
      const tokens = createTokenManager({ source, ...(kept && { store: kept }), clock, random: () => 0, ...more })
      tokens.onAny(() => undefined)
      managers.push(tokens)
      return tokens as LoginManager
    },
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += 1_000) {
        await clock.advance(1_000)
        await quiet()
      }
    },
  }
}
