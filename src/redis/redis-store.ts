import { asGiven, type Readers, readOptions } from '../core/option-checks.ts'
import type { TokenStore } from '../core/token-store.ts'
import { Changes } from '../store/changes.ts'
import { checkedRegister } from '../store/checked-register.ts'
import { SHARED, type SharedStoreOptions, storeOn } from '../store/shared-store.ts'
import type { RedisClient } from './command.ts'
import { reasonOf, watch } from './reason.ts'
import { redisRegister } from './redis-register.ts'
import type { RedisSubscriber } from './subscription.ts'

export interface RedisStoreOptions extends SharedStoreOptions {
  /** A connected client: node-redis 5 or 6 (single, pool, cluster or sentinel), ioredis 5 or 6 (single or cluster), or any object that runs one command. */
  client: RedisClient
  /**
   * A second connection, only for subscriptions: `client.duplicate()`, connected, of node-redis or ioredis. Pass it in all processes or in none. Each
   * write then publishes the key of its record on the channel `axios-evergreen`, and an owner of a login checks the store when its key has changed, instead of
   * every `renewal.maxStalenessMs`. Close it after the manager. Default: none.
   */
  subscriber?: RedisSubscriber | undefined
}

/**
 * Shares the tokens of each account among all processes that use the same Redis and the same `prefix`. One process renews, and
 * the others adopt its tokens. If the process that renews dies, another takes over. It presents a single-use refresh
 * token again only for a login, and only once no access token is valid.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { redisStore } from 'axios-evergreen/redis'
 * import { createClient } from 'redis'
 *
 * const client = createClient({ url: 'redis://127.0.0.1:6379' })
 * client.on('error', console.warn) // node-redis throws without a listener
 * await client.connect()
 * const tokens = createTokenManager({ source, store: redisStore({ client }) })
 * ```
 * @throws {TypeError | RangeError} naming the option.
 */
export function redisStore(options: RedisStoreOptions): TokenStore {
  const readers = { client: asGiven, ...SHARED, subscriber: asGiven } satisfies Readers<RedisStoreOptions>
  const { client, subscriber, ...shared } = readOptions('The options of redisStore', options, readers, '')
  const register = redisRegister(client, subscriber)
  watch(client)
  return storeOn(checkedRegister(register), shared, (thrown) => reasonOf(thrown, client), { NotifiedOf: Changes })
}
