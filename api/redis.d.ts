/** Opaque for now: made by `memoryStore` and `redisStore`. */
interface TokenStore {
    readonly kind: string;
}

import { SharedStoreOptions } from './store.js';
export { EncryptionKey } from './store.js';

/** What runs one command: the clients of node-redis (each in its own way) and of ioredis, and anything with a method `command`. */
type RedisClient = {
    sendCommand(args: string[]): Promise<unknown>;
} | {
    sendCommand(firstKey: string, isReadonly: boolean, args: string[]): Promise<unknown>;
    getSlotMaster: unknown;
} | {
    sendCommand(isReadonly: boolean, args: string[]): Promise<unknown>;
    getMasterNode: unknown;
} | {
    call(command: string, ...args: string[]): Promise<unknown>;
} | {
    command(args: string[]): Promise<unknown>;
};

interface RedisStoreOptions extends SharedStoreOptions {
    /**
     * A connected client of node-redis (5, 6), alone, pool, cluster or sentinel; one of ioredis (5, 6), alone or cluster; or anything that runs
     * one command.
     */
    client: RedisClient;
}
/**
 * Shares the tokens of each account among all processes that use the same Redis and the same `prefix`. One of them renews,
 * the others adopt; a single-use refresh token is presented once, even if its holder dies.
 *
 * @example
 * const client = await createClient({ url: 'redis://127.0.0.1:6379' }).connect()
 * const tokens = createTokenManager({ source, store: redisStore({ client }) })
 * @throws {TypeError | RangeError} naming the option.
 */
declare function redisStore(options: RedisStoreOptions): TokenStore;

export { redisStore };
export type { RedisClient, RedisStoreOptions };
