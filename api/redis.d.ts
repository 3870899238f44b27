/** Opaque for now: made by `memoryStore` and `redisStore`. */
interface TokenStore {
    readonly kind: string;
}

import { SharedStoreOptions } from './store.js';
export { EncryptionKey } from './store.js';

/** A connected node-redis (5, 6) or ioredis (5, 6) client, or anything that runs one command. */
type RedisClient = {
    sendCommand(args: string[]): Promise<unknown>;
} | {
    call(command: string, ...args: string[]): Promise<unknown>;
} | {
    command(args: string[]): Promise<unknown>;
};

interface RedisStoreOptions extends SharedStoreOptions {
    /** A connected node-redis (5, 6) or ioredis (5, 6) client, or anything that runs one command. */
    client: RedisClient;
}
/**
 * Shares the tokens of each account among all processes that use the same Redis and the same `prefix`. One of them renews,
 * the others adopt; a single-use refresh token is presented once, even if its holder dies.
 *
 * @throws {TypeError | RangeError} naming the option.
 */
declare function redisStore(options: RedisStoreOptions): TokenStore;

export { redisStore };
export type { RedisClient, RedisStoreOptions };
