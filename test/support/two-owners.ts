import type { Clock } from '../../src/index.ts'
import type { Lease } from '../../src/core/lease.ts'
import type { NewTokens } from '../../src/core/stored-tokens.ts'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { sharedStore, type SharedStoreOptions, type TokenRegister } from '../../src/store/index.ts'
import { withActs } from './with-acts.ts'

/** A token set with an access token of a minute. */
export const TOKENS: NewTokens = {
  accessToken: 'access-1',
  accessLifetimeMs: 60_000,
  accessRemainingMs: 60_000,
  refreshToken: 'refresh-1',
  refreshRemainingMs: 3_600_000,
}

/** Two owners of one account in a register, and the anomalies that both report. `claim`: the owner here acquires a lease, and it is granted. */
export function twoOwners(register: TokenRegister, clock: Clock, options?: SharedStoreOptions) {
  const told: [kind: string, message: string][] = []
  const reports = { anomaly: (...given: (typeof told)[0]) => told.push(given), storeUnavailable: () => undefined }
  const store = sharedStore(register, options) as OpenableStore
  const open = () => withActs(store.open('account', clock, reports), clock)
  const here = open()
  const acquire = async (seenVersion = 0) => (await here.acquire('here', seenVersion, 15_000)) as Lease
  return { here, there: open(), acquire, told }
}
