/** Opaque for now: made by `memoryStore` and `redisStore`. */
interface TokenStore {
    readonly kind: string;
}


/** A connected node-redis (5, 6) or ioredis (5, 6) client, or anything that runs one command. */
type RedisClient = {
    sendCommand(args: string[]): Promise<unknown>;
} | {
    call(command: string, ...args: string[]): Promise<unknown>;
} | {
    command(args: string[]): Promise<unknown>;
};

interface EncryptionKey {
    /** Stored beside what it seals. */
    id: string;
    /** 32 bytes. */
    key: Uint8Array;
}

interface RedisStoreOptions {
    /** A connected node-redis (5, 6) or ioredis (5, 6) client, or anything that runs one command. */
    client: RedisClient;
    /** First part of every key. Default `evergreen`. */
    prefix?: string | undefined;
    /**
     * AES-256-GCM keys of 32 bytes: the first seals, all open. Without it tokens are stored readable, and a warning says so
     * once.
     */
    encryptionKeys?: readonly EncryptionKey[] | undefined;
    /** Default 250. */
    commandTimeoutMs?: number | undefined;
    /**
     * `private`: on a store outage each process gets its own tokens; `fail`: `ERR_STORE_UNAVAILABLE`. Default `private`.
     */
    onUnavailable?: 'private' | 'fail' | undefined;
}
/**
 * Shares the tokens of each account among all processes that use the same Redis and the same `prefix`. One of them renews,
 * the others adopt; a single-use refresh token is presented once, even if its holder dies.
 *
 * @throws {TypeError | RangeError} naming the option.
 */
declare function redisStore(options: RedisStoreOptions): TokenStore;

export { redisStore };
export type { EncryptionKey, RedisClient, RedisStoreOptions };
