/** Opaque for now: made by `memoryStore` and `redisStore`. */
interface TokenStore {
    readonly kind: string;
}


type AesKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;
interface EncryptionKey {
    /** Stored beside what the key seals. */
    id: string;
    /** 32 bytes, or a key of AES-GCM that may seal and open: in browsers one that cannot be extracted. */
    key: Uint8Array | AesKey;
}

/**
 * One short text per key, shared by all owners of an account. Both steps are linearizable: every owner sees them in one order, and
 * that order agrees with real time. `tokenRegisterChecks` of `axios-evergreen/testing` holds an implementation to it.
 */
interface TokenRegister {
    /** Names the register in messages, such as `redis`. */
    readonly kind: string;
    read(key: string): Promise<RegisterReading>;
    /**
     * Puts `value` there if `expected` is what stands there (undefined: nothing does). The value may be dropped after `keepMs`.
     *
     * @returns Whether it was put there. Rejects where that is not known.
     */
    replace(key: string, expected: string | undefined, value: string, keepMs: number): Promise<boolean>;
    /** Calls back when any value may have changed. Absent: those who wait for a change ask again every second. @returns stop */
    watch?(onChange: () => void): () => void;
}
interface RegisterReading {
    /** Undefined: nothing stands there. */
    readonly value?: string | undefined;
    /** Epoch ms by the one clock that all owners of this register share. */
    readonly now: number;
    /**
     * Changes whenever writes that were acknowledged may have been lost (a restart from a snapshot, a failover). Absent: that cannot
     * happen.
     */
    readonly epoch?: string | undefined;
}

interface SharedStoreOptions {
    /** First part of every key. Default `evergreen`. */
    prefix?: string | undefined;
    /**
     * AES-256-GCM keys: 32 bytes, or a `CryptoKey`. The first key seals, all open; the whole record is sealed. Without keys tokens are stored
     * readable, and an anomaly says so once.
     */
    encryptionKeys?: readonly EncryptionKey[] | undefined;
    /** Longest wait for one step of the register, ms. Default 250; four times this for the first claim of an owner without a token. */
    commandTimeoutMs?: number | undefined;
    /** `private`: on a store outage each process gets its own tokens; `fail`: `ERR_STORE_UNAVAILABLE`. Default `private`. */
    onUnavailable?: 'private' | 'fail' | undefined;
}
/**
 * Shares the tokens of each account among all owners that use the same register and the same `prefix`. One of them renews, the others adopt; a
 * single-use refresh token is presented once, even if its holder dies.
 *
 * @example
 * const store = sharedStore(register, { encryptionKeys: [{ id: '2026-11', key }] })
 * const tokens = createTokenManager({ source, store })
 * @throws {TypeError | RangeError} naming the option.
 */
declare function sharedStore(register: TokenRegister, options?: SharedStoreOptions): TokenStore;

export { sharedStore };
export type { EncryptionKey, RegisterReading, SharedStoreOptions, TokenRegister };
