/**
 * A store that processes share through Redis.
 *
 * @module axios-evergreen/redis
 */
export { redisStore, type RedisStoreOptions } from './redis-store.ts'
export type { RedisSubscriber } from './subscription.ts'
export type { RedisClient } from './command.ts'
