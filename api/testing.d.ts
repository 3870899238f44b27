/** Token calls of the two kinds, and everything else. */
type RequestKind = 'obtain' | 'refresh' | 'resource';
/** What one request meets instead of, or on top of, a proper answer. Applied before the throttle is asked. */
type SimulatedFault = 
/**
 * Answered so, and the service does not act. `status` 200 to 599. Without `body`: from 400 on a JSON:API error with the
 * code the specification gives that status (at `tokenEndpoint` an error of OAuth 2.0), below 400 nothing.
 */
{
    status: number;
    headers?: Record<string, string>;
    body?: string;
}
/** The connection breaks `before` the service has acted (throttle included), or `after` it. */
 | {
    drop: 'before' | 'after';
}
/** The service neither acts nor answers; the connection stays open until the client, or `close()`, ends it. */
 | {
    hang: true;
}
/**
 * The service acts, and its answer is damaged: a wrong `meta.sign`; a wrong `data.type`; no JSON; or cut off half way
 * through the announced length. `signature` and `type` leave an answer without that member as it is, so `signature`
 * shows on Variant B obtains only, and neither on a resource.
 */
 | {
    corrupt: 'signature' | 'type' | 'json' | 'truncate';
};

interface SimulatedServiceOptions {
    /** Ms from issue to expiry of an access token. Default 60 000. */
    accessLifetimeMs?: number;
    /** Ms from issue to expiry of a refresh token. Default 6 h. */
    refreshLifetimeMs?: number;
    /**
     * Token calls allowed in any stretch of `windowMs` (a sliding window; refused calls do not count) before 429.
     * Default: no limit.
     */
    throttle?: {
        calls: number;
        windowMs: number;
    };
    /** Ms between acting and answering, for every answer of the token endpoints. Default 0. */
    latencyMs?: number;
    /** Ms by which the service's clock is ahead of this machine's; negative: behind. Default 0. */
    clockOffsetMs?: number;
    /** Port on 127.0.0.1. Default 0: any free one. */
    port?: number;
}

/** What Variant A presents as `client_id` and `client_secret`. */
interface Client {
    clientId: string;
    clientSecret: string;
}
/** What Variant B presents as `login` and `password`. */
interface Login {
    login: string;
    password: string;
}

interface SimulatedService {
    /** `http://127.0.0.1:<port>`, without a trailing slash. */
    readonly baseUrl: string;
    /**
     * An OAuth 2.0 token endpoint (RFC 6749) of the same service, for `client`: client credentials, and refresh tokens that
     * rotate. A refresh token that was used before is answered 400 `invalid_grant`, and all that came of its pair is revoked. The
     * client authenticates by basic or in the body. An answer to client credentials has a refresh token too, as some servers
     * give one, though RFC 6749 advises against it.
     */
    readonly tokenEndpoint: string;
    /** The credentials that Variant A and `tokenEndpoint` accept; random for each service. */
    readonly client: Client;
    /** The credentials Variant B accepts; random for each service. */
    readonly login: Login;
    /**
     * Every request served, oldest first; it grows as requests are answered, dropped or left hanging. `at` is that moment,
     * epoch ms of this machine; `path` is as received, query included; `status` is 0 where no answer was sent. A request
     * that never arrived in full is not in it.
     */
    readonly log: readonly {
        at: number;
        kind: RequestKind;
        method: string;
        path: string;
        status: number;
    }[];
    /** How many requests of `kind` the log holds. */
    count(kind: RequestKind): number;
    /**
     * The next `times` (default 1) requests of `kind` meet `fault`. Faults of one kind are met in the order given, and before
     * the throttle is asked: a fault that keeps the service from acting costs no call of it.
     *
     * @throws {TypeError | RangeError} naming the argument and its value.
     */
    failNext(kind: RequestKind, fault: SimulatedFault, times?: number): void;
    /**
     * Somebody logs in: a first pair, for `adopt()` of a token manager whose source refreshes at `tokenEndpoint`. Not in the log,
     * and costs no call of the throttle.
     */
    logIn(): Promise<SimulatedLogin>;
    /** All access tokens issued so far are refused from now on; refresh tokens stay good. */
    revokeAccessTokens(): void;
    /**
     * Someone else uses the current refresh token (the one issued last, if still good): it is superseded, and the thief
     * holds the next pair. Not in the log, and costs no call of the throttle. Rejects with an Error if there is none.
     */
    stealRefreshToken(): Promise<void>;
    /** Ends every connection, hanging ones included; resolves once the port is free. May be called again. */
    close(): Promise<void>;
}
/** What a login brings. Lifetimes in ms. */
interface SimulatedLogin {
    accessToken: string;
    accessLifetimeMs: number;
    refreshToken: string;
    refreshLifetimeMs: number;
}
/**
 * A real HTTP server on 127.0.0.1 that behaves as the specification says, both variants, for tests and demos. Like any
 * server it keeps the process alive until `close()`.
 *
 * Every path but `token/` and `token/refresh/` (with or without the slash) and that of `tokenEndpoint` is a protected resource. With a good
 * `Authorization: Bearer <access>` it answers 200 and echoes the request as JSON, `{ method, path, headers, body }`: `path`
 * with the query, `body` as text, `headers` without `authorization`, so that no token is echoed. Otherwise it answers 401.
 *
 * All answers carry a `Date` by the service's clock, which also decides what has expired. A body over 1 MiB gets 413
 * before faults, throttle and credentials are looked at.
 *
 * @example
 * const service = await startTokenService({ accessLifetimeMs: 60_000 })
 * const source = clientCredentials({ baseUrl: service.baseUrl, ...service.client })
 * service.failNext('obtain', { status: 503 })
 * @throws {TypeError | RangeError} naming the option and its value; Node's own error if the port is taken.
 */
declare function startTokenService(options?: SimulatedServiceOptions): Promise<SimulatedService>;

/** As `Clock` of the main entry, moved by hand: time stands still until a test says otherwise. */
interface ManualClock {
    wallNow(): number;
    monotonicNow(): number;
    setTimer(callback: () => void, delayMs: number, holdsProcess?: boolean): () => void;
    /** Moves both clocks, ms, and runs the timers that fall due; after each, the promises behind it have settled. */
    advance(ms: number): Promise<void>;
    /** Moves the wall clock alone, ms: a step, or (above 0) the sleep of a machine. */
    stepWall(ms: number): void;
    readonly pendingTimers: number;
}
/**
 * A `Clock` moved by hand. Pass it to `createTokenManager`.
 *
 * @example
 * const clock = manualClock()
 * const tokens = createTokenManager({ source, clock })
 * await clock.advance(50_000) // timers that fall due run, and what they start
 * @param options `wallNow`: epoch ms. Default 2026-01-01T00:00:00Z.
 */
declare function manualClock({ wallNow }?: {
    wallNow?: number;
}): ManualClock;

/** As `TokenRegister` of `axios-evergreen/store`. */
interface CheckedRegister {
    readonly kind: string;
    read(key: string): Promise<{
        readonly value?: string | undefined;
        readonly now: number;
        readonly epoch?: string | undefined;
    }>;
    replace(key: string, expected: string | undefined, value: string, keepMs: number): Promise<boolean>;
}
/**
 * What a `TokenRegister` must do, as checks for any test runner: `for (const { name, run } of tokenRegisterChecks(create)) it(name, run)`.
 *
 * @example
 * for (const { name, run } of tokenRegisterChecks(() => Promise.resolve({ register }))) it(name, run)
 * @param create Opens the register, on a connection of its own where it has connections. All that it opens must share their values.
 * @returns Each check rejects with an `AssertionError` that says what was expected.
 */
declare function tokenRegisterChecks(create: () => Promise<{
    register: CheckedRegister;
    end?: () => Promise<void>;
}>): {
    name: string;
    run: () => Promise<void>;
}[];

export { manualClock, startTokenService, tokenRegisterChecks };
export type { CheckedRegister, Client, Login, ManualClock, RequestKind, SimulatedFault, SimulatedLogin, SimulatedService, SimulatedServiceOptions };
