import { AxiosResponse, AxiosInstance } from 'axios';
/** Two clocks and a timer; replace them in tests. */
interface Clock {
    /** Epoch ms; may jump. */
    wallNow(): number;
    /** Ms from any origin; never goes back. */
    monotonicNow(): number;
    /**
     * Runs `callback` once. Keeps the process alive only if `holdsProcess`: the limit of a waiting caller does, everything
     * in the background does not. @returns cancel.
     */
    setTimer(callback: () => void, delayMs: number, holdsProcess?: boolean): () => void;
}

type TokenErrorCode = 'ERR_CREDENTIALS_REJECTED' | 'ERR_REFRESH_REJECTED' | 'ERR_SUSPICIOUS_REFRESH_TOKEN' | 'ERR_THROTTLED' | 'ERR_TOKEN_SERVICE_UNAVAILABLE' | 'ERR_TOKEN_REQUEST' | 'ERR_TOKEN_RESPONSE' | 'ERR_SIGNATURE' | 'ERR_WAIT_TIMEOUT' | 'ERR_REPLACED_TOO_SOON' | 'ERR_STORE_UNAVAILABLE' | 'ERR_CLOSED' | 'ERR_LOGIN_REQUIRED' | 'ERR_TOKEN_SOURCE';
/**
 * What is known of one exchange. accepted: complete, valid 2xx · rejected: complete 4xx but 408, 425, 429, and complete
 * 3xx · deferred: complete 429 · not-sent: no request byte left · unknown-5xx: complete 5xx · unknown: all else (408 and
 * 425 among it); the service may have acted.
 */
type ExchangeOutcome = 'accepted' | 'rejected' | 'deferred' | 'not-sent' | 'unknown-5xx' | 'unknown';
interface TokenErrorDetails {
    outcome?: ExchangeOutcome | undefined;
    status?: number | undefined;
    serviceCode?: string | undefined;
    /** What the service asked for, ms. Finite and not negative, else ignored. */
    retryAfterMs?: number | undefined;
    /** Earliest instant of another attempt, epoch ms. */
    retryAt?: number | undefined;
    /**
     * Kept as its name, its code and the frames of its stack: an axios error carries its whole request, token and credentials
     * included.
     */
    cause?: unknown;
    /**
     * What became of the refresh token that was presented: `refused` (it is judged: suspicious unless explained), `unusable`
     * (never presented again, not judged), `kept` (still good). Default: `refused` with `ERR_REFRESH_REJECTED`, else by the
     * outcome. The HTTP status decides nothing.
     */
    refreshToken?: 'refused' | 'unusable' | 'kept' | undefined;
}
/**
 * One class for every failure to get a token; `code` tells them apart, across module formats and copies.
 *
 * @example
 * if (status === 429) throw new TokenError('ERR_THROTTLED', 'The token service answered 429', { status, retryAfterMs })
 */
declare class TokenError extends Error {
    readonly code: TokenErrorCode;
    /** Whether the same call may work later without anyone changing anything. */
    readonly retryable: boolean;
    /** Earliest instant at which another attempt is allowed, epoch ms. */
    readonly retryAt?: number;
    /** What the service's `Retry-After` asked for, ms. */
    readonly retryAfterMs?: number;
    /** HTTP status of the token call, when there was one. */
    readonly status?: number;
    /** Application code of the service, e.g. `2006`. */
    readonly serviceCode?: string;
    /** What is known of the exchange; custom sources set it. */
    readonly outcome?: ExchangeOutcome;
    /** What became of the refresh token that was presented; custom sources set it. */
    readonly refreshToken?: 'refused' | 'unusable' | 'kept';
    constructor(code: TokenErrorCode, message: string, details?: TokenErrorDetails);
    /** For logs and error trackers, which print an error's own members only: the message is none of them. */
    toJSON(): object;
    /** The ESM and the CommonJS copy of this class in one process know each other's errors. */
    static [Symbol.hasInstance](value: unknown): boolean;
}
/**
 * Whether `value` is a `TokenError`, of any copy of this package, and has `code` if one is given.
 *
 * @example
 * const laterAt = isTokenError(error) && error.retryable ? error.retryAt : undefined
 */
declare function isTokenError(value: unknown, code?: TokenErrorCode): value is TokenError;

/** Instants are epoch ms of this machine's wall clock, durations ms. No event carries a token or a credential. */
interface TokenEvents {
    /** A new token is in use. `adopted`: another process got it. */
    renewed: {
        by: 'obtain' | 'refresh' | 'adopted';
        because: RenewalCause;
        attempts: number;
        durationMs: number;
        accessExpiresAt: number;
        refreshExpiresAt?: number;
    };
    /** One token call failed and will be tried again. */
    retry: {
        attempt: number;
        delayMs: number;
        error: TokenError;
    };
    /** A renewal gave up. `nextAttemptAt` is Infinity where only `reset()` helps. */
    renewalFailed: {
        error: TokenError;
        nextAttemptAt: number;
    };
    suspicious: SuspicionEvent;
    /** What the obtain that followed a suspicion showed. */
    suspicionSettled: {
        fingerprint: string;
        verdict: 'token-only' | 'account-rejected' | 'was-expired' | 'superseded';
    };
    /** Something odd but survivable; each kind at most once a minute. */
    anomaly: {
        kind: AnomalyKind;
        message: string;
    };
    storeUnavailable: {
        message: string;
    };
}
type RenewalCause = 'cold' | 'due' | 'expired' | 'refused' | 'forced';
type AnomalyKind = 'clock-off' | 'clock-jumped' | 'retry-after-clamped' | 'response-odd' | 'origin-not-allowed' | 'header-in-defaults' | 'stored-tokens-unusable' | 'stored-tokens-readable' | 'store-restored' | 'adapter-replaced' | 'new-tokens-refused' | 'lifetime-odd';
/** A refresh token was refused although it was not known to have expired (specification, section 3). */
interface SuspicionEvent {
    suspicious: true;
    /** Why it may be innocent, or `unexplained`. */
    evidence: 'unexplained' | 'own-unknown-outcome' | 'concurrent-use' | 'clock-uncertain' | 'store-unreachable' | 'expiry-unknown';
    severity: 'high' | 'medium' | 'low';
    /** First 8 hex digits of SHA-256 of the refresh token. */
    fingerprint: string;
    refreshExpiresAt?: number;
    rejectedAt: number;
    /** Absent where the source told none. */
    status?: number;
    serviceCode?: string;
    action: 'obtain' | 'stop';
}

/**
 * Where tokens come from: performs exchanges with one service for one account. Never retries, never shares: the manager
 * does. `clientCredentials` and `loginPassword` are built on it; write your own for any other service.
 */
interface TokenSource {
    /** Tells services, variants and accounts apart; the default store key. Stores hash it, nothing prints it. */
    readonly id: string;
    /** Origin of the service, allowed to receive the token. */
    readonly origin?: string;
    /** Exchanges credentials for tokens. */
    obtain(context: ExchangeContext): Promise<TokenGrant>;
    /** Exchanges a refresh token for the next pair. Absent: every renewal is an obtain. */
    refresh?(refreshToken: string, context: ExchangeContext): Promise<TokenGrant>;
    /** Forgets what it has learnt from answers; called by `reset()` of the manager. */
    reset?(): void;
    /**
     * What the service does with a refresh token that was used. `single-use` (default): the service accepts it once, so the manager
     * never sends one again whose answer was lost. `reusable`: it stays good, so the manager sends it again, and an answer without a
     * refresh token keeps it (RFC 6749, section 6).
     */
    readonly refreshTokens?: 'single-use' | 'reusable' | undefined;
    /**
     * For how long the service accepts a refresh token that was used, ms, if it documents such a grace. Within it the manager sends
     * one again whose answer was lost. Default 0.
     */
    readonly reuseGraceMs?: number | undefined;
}
interface ExchangeContext {
    /** Aborted when `exchangeTimeoutMs` has passed; never because a caller gave up or the manager was closed. */
    readonly signal: AbortSignal;
    /** The manager's clock, for sources that must carry the service's time forward. */
    readonly clock: Clock;
    /**
     * `false`: nobody waits for this call, and it need not keep the process alive. Default true.
     */
    readonly holdsProcess?: boolean;
    /** Reports an answer that is usable but odd; becomes an `anomaly` event. Give no secret. */
    readonly report?: (kind: AnomalyKind, message: string) => void;
}
/** What one exchange brought. Lifetimes count from the moment the request was sent. */
interface TokenGrant {
    accessToken: string;
    accessLifetimeMs: number;
    refreshToken?: string;
    refreshLifetimeMs?: number;
}


interface TokenStatus {
    /** While a token lives its freshness is the phase, whatever else is wrong. */
    phase: 'empty' | 'fresh' | 'due' | 'expired' | 'cooling-down' | 'stopped' | 'closed';
    renewing: boolean;
    /** Epoch ms; a lifetime above 24 h counts as 24 h. */
    accessExpiresAt?: number;
    /** Epoch ms. */
    refreshExpiresAt?: number;
    /** No token call before this instant, epoch ms. */
    nextAttemptAt?: number;
    /** Why there was no token last, until one comes. */
    lastError?: TokenErrorCode;
    /** Token calls made (`obtains`, `refreshes`) and how many of them failed; tokens that another owner of the store got. */
    counts: {
        obtains: number;
        refreshes: number;
        adoptions: number;
        failures: number;
        suspicions: number;
    };
}

interface WaitOptions {
    signal?: AbortSignal | undefined;
    /** Longest wait of this call, ms; at most, and by default, `renewal.maxWaitMs`. */
    maxWaitMs?: number | undefined;
}

/** Keeps one fresh access token for one account, whoever asks and however many at once. */
interface TokenManager {
    /**
     * A token that may be sent now; waits for the renewal where there is none. A caller who gives up leaves alone.
     *
     * @throws {TokenError} see `TokenErrorCode`; `signal.reason` when the caller gives up.
     */
    getAccessToken(options?: WaitOptions): Promise<string>;
    /**
     * The token if it may be sent right now, else undefined. Synchronous; starts the background renewal when it is due.
     */
    peekAccessToken(): string | undefined;
    /**
     * The API refused `refused`. Resolves with a different token; renews only if `refused` is still the current one.
     *
     * @throws {TokenError} `ERR_REPLACED_TOO_SOON` within the gap between forced renewals: max(2 s, a tenth of the lifetime).
     */
    replaceAccessToken(refused: string, options?: WaitOptions): Promise<string>;
    /**
     * Renews now, however fresh the token; joins a renewal in flight. In a cool-down that follows from an unreachable or failing
     * service it makes one attempt; it never breaks a `Retry-After`, the pause after refused credentials, or a stop.
     *
     * @throws {TokenError} as `getAccessToken`.
     */
    renew(options?: WaitOptions): Promise<void>;
    /**
     * Uses tokens that were got elsewhere: by a login, from a page rendered on a server, from a vault. Ends cool-downs and stops,
     * outdates a renewal in flight, and stores the tokens.
     *
     * @throws {TypeError} naming the member.
     * @throws {TokenError} `ERR_STORE_UNAVAILABLE` where a shared store cannot be told and its `onUnavailable` is `fail`.
     */
    adopt(grant: TokenGrant): Promise<void>;
    /**
     * Forgets tokens (in the store too), cool-downs and stops, and outdates a renewal in flight: its waiters join the next
     * one. Use after changing credentials.
     */
    reset(): Promise<void>;
    status(): TokenStatus;
    /** @returns a function that removes the listener. Listeners may throw; nothing else notices. */
    on<Name extends keyof TokenEvents>(name: Name, listener: (event: TokenEvents[Name]) => void): () => void;
    /** All events, for logs. @returns a function that removes the listener. */
    onAny(listener: <Name extends keyof TokenEvents>(name: Name, event: TokenEvents[Name]) => void): () => void;
    /** Ends timers, rejects waiters with `ERR_CLOSED`, lets an exchange in flight finish and be stored. */
    close(): Promise<void>;
}

export { TokenStatus, WaitOptions };
export { AnomalyKind, ExchangeContext, ExchangeOutcome, RenewalCause, SuspicionEvent, TokenErrorCode, TokenErrorDetails, TokenEvents, TokenGrant, isTokenError };
/** Opaque for now: made by `memoryStore` and `redisStore`. */
interface TokenStore {
    readonly kind: string;
}

import { AxiosRequestConfig } from 'axios';

/** How the calls to a token service travel. */
interface TokenCallOptions {
    /** Transport settings for token calls only: proxy, agents, adapter, extra headers. Read once. */
    transport?: Pick<AxiosRequestConfig, 'adapter' | 'headers' | 'httpAgent' | 'httpsAgent' | 'proxy' | 'socketPath' | 'lookup'> | undefined;
    /** Send credentials over plain http to hosts that are not loopback. Default false. */
    allowInsecureHttp?: boolean | undefined;
}


interface TokenManagerOptions {
    source: TokenSource;
    /** Where tokens live. Default: this manager's memory. `redisStore` shares them among processes. */
    store?: TokenStore | undefined;
    /** Default `source.id`. */
    storeKey?: string | undefined;
    renewal?: RenewalOptions | undefined;
    retry?: RetryOptions | undefined;
    /** One whole token call, from connecting to the last body byte. Default 10 000. */
    exchangeTimeoutMs?: number | undefined;
    /**
     * After a suspicious refresh token: `obtain` a new pair with the credentials, or `stop` at once (the live access token is
     * dropped too) until `reset()`. Default `obtain`.
     */
    onSuspicious?: 'obtain' | 'stop' | undefined;
    clock?: Clock | undefined;
    /** Uniform in [0, 1). Default `Math.random`. */
    random?: (() => number) | undefined;
}
interface RenewalOptions {
    /**
     * Renewal is due this long before expiry; the old token serves meanwhile. Default a quarter of the lifetime, 2 s to 5 min;
     * never more than half the lifetime.
     */
    skewMs?: number | undefined;
    /**
     * With no more than this left callers wait for the renewal. Default a twentieth of the lifetime, 1 s to 10 s; never more
     * than a quarter of the lifetime.
     */
    hardSkewMs?: number | undefined;
    /** Renewal comes earlier by up to this share of the skew, drawn once per token. Default 0.2. */
    jitter?: number | undefined;
    /**
     * `while-used`: a timer renews a token that has been used since it was got, and lets an idle one lapse; `always` renews it
     * in any case. Default `while-used`.
     */
    keepWarm?: 'while-used' | 'always' | 'never' | undefined;
    /** Longest time one caller waits for a token. Default 30 000. */
    maxWaitMs?: number | undefined;
}
interface RetryOptions {
    /** Token calls in one renewal, refreshes and obtains together, the first included. Default 4. */
    maxAttempts?: number | undefined;
    /**
     * Step before the second call; later steps double. The pause is a random time between half of the step and the whole step. Default 500. After
     * 429: twice this.
     */
    baseDelayMs?: number | undefined;
    /** Default 20 000. */
    maxDelayMs?: number | undefined;
    /** Longest `Retry-After` that is believed. Default 300 000. */
    maxRetryAfterMs?: number | undefined;
}

interface AttachOptions {
    /**
     * Origins that may receive the token. Default: the origins of `instance.defaults.baseURL` and of the token source. In a browser a relative
     * `baseURL`, and none, stand for the origin of the page.
     */
    origins?: readonly (string | URL)[] | undefined;
    /**
     * Default `Authorization`. Under another name redirects are not followed: axios strips only `Authorization` across origins.
     */
    header?: string | undefined;
    /** Word before the token. Default `Bearer`; an empty string sends the bare token. */
    scheme?: string | undefined;
    /** Says whether a response, its `data` not yet transformed, refuses the token. Default: status 401. */
    refuses?: ((response: AxiosResponse) => boolean) | undefined;
    /** Send tokens over plain http to hosts that are not loopback. Default false. */
    allowInsecureHttp?: boolean | undefined;
}

interface Attachment {
    /** Takes the interceptor off the instance. Requests in flight finish; the manager stays open. */
    detach(): void;
}
declare module 'axios' {
    interface AxiosRequestConfig {
        /** `false`: send this request without a token and never replay it. */
        evergreen?: boolean;
    }
}
/**
 * Gives every request of `instance` a fresh token, and replays a request once when the API refuses its token. Requests that
 * carry the header, have `auth` or say `evergreen: false` are left alone. Attaching a manager twice changes nothing.
 *
 * @example
 * const api = axios.create({ baseURL: 'https://payments.example.com' })
 * attachBearer(api, tokens)
 * await api.get('/wallet') // carries a fresh token
 * @throws {TypeError} naming the option; when no origin is known; when another manager has an origin already; when the header
 * is among the instance's defaults.
 */
declare function attachBearer(instance: Pick<AxiosInstance, 'defaults' | 'interceptors'>, tokens: TokenManager, options?: AttachOptions): Attachment;

/** What takes the lines: `console`, or a logger such as pino's. */
interface EventLog {
    info(line: string): void;
    warn(line: string): void;
    error(line: string): void;
}
/**
 * Writes one readable line for each event of a manager: `info` for what went well, `warn` for what somebody should look at,
 * `error` for a refresh token that may have been stolen. No line holds a token or a credential.
 *
 * @example
 * const stop = logEvents(tokens, console)
 * @returns a function that ends it.
 * @throws {TypeError} when `log` lacks one of the three methods.
 */
declare function logEvents(tokens: Pick<TokenManager, 'onAny'>, log: EventLog): () => void;

/**
 * Tokens in this process only. Managers that are given the same store, and the same key, share their tokens.
 *
 * @example
 * const store = memoryStore()
 * const tokens = createTokenManager({ source, store, storeKey: 'bakery' })
 */
declare function memoryStore(): TokenStore;

/**
 * Creates the manager of one account. The manager makes no token call until somebody asks for a token.
 *
 * @example
 * const tokens = createTokenManager({ source: clientCredentials({ baseUrl, clientId, clientSecret }) })
 * const token = await tokens.getAccessToken()
 * @throws {TypeError | RangeError} naming the option and its value.
 */
declare function createTokenManager(options: TokenManagerOptions): TokenManager;

interface ProvidedCredentials<Credentials> {
    /**
     * Asked once per exchange, e.g. of a secret manager; its answer serves the whole exchange. Of what it throws only name and
     * code are kept: log it yourself.
     */
    credentials: () => Credentials | Promise<Credentials>;
    /**
     * Names the account. With a `store`, `createTokenManager` throws unless this or `storeKey` is given: two accounts must not
     * meet under one key.
     */
    account?: string | undefined;
}

interface TokenServiceOptions extends TokenCallOptions {
    /** `{base_url}` of the specification, with or without trailing slash, path prefix allowed. */
    baseUrl: string | URL;
}

type ClientCredentialsOptions = TokenServiceOptions & (Client | ProvidedCredentials<Client>);
interface Client {
    clientId: string;
    clientSecret: string;
}
/**
 * Variant A (specification, sections 2.1, 2.2, 4.1 and 7.1): exchanges `client_id` and `client_secret` for an access token,
 * again and again.
 *
 * @example
 * const source = clientCredentials({
 *   baseUrl: 'https://payments.example.com/api',
 *   account: 'bakery',
 *   credentials: () => secretManager.read('payments'), // { clientId, clientSecret }
 * })
 * @throws {TypeError} naming the option.
 */
declare function clientCredentials(options: ClientCredentialsOptions): TokenSource;

type LoginPasswordOptions = TokenServiceOptions & {
    /** Verify `meta.sign` of obtain responses; a missing or wrong tag is refused. Default true. */
    verifySignature?: boolean | undefined;
} & (Login | ProvidedCredentials<Login>);
interface Login {
    login: string;
    password: string;
}
/**
 * Variant B, deprecated by the service (specification, sections 2.3 to 2.5, 4.2, 4.3, 5, 7.2 and 7.3): `login` and
 * `password`, rotating refresh tokens, signed obtain responses. Lifetimes are counted by the service's clock.
 *
 * @example
 * const source = loginPassword({ baseUrl: 'https://payments.example.com/api', login, password })
 * @throws {TypeError} naming the option.
 */
declare function loginPassword(options: LoginPasswordOptions): TokenSource;

/**
 * What a failed call of an own source means: an axios error, an answer of fetch, a network error of undici or Node, or
 * anything else. Reads status, `Retry-After`, the `error` member of OAuth 2.0 (RFC 6749, section 5.2) and the code of the
 * network error; keeps no message that may hold a secret. The manager applies it to whatever a source throws that is no
 * `TokenError`.
 *
 * @example
 * const response = await fetch(tokenEndpoint, { method: 'POST', body })
 * if (!response.ok) throw toTokenError(response, 'obtain')
 * @returns `thrown` itself where it is a `TokenError`.
 */
declare function toTokenError(thrown: unknown, exchange: 'obtain' | 'refresh'): TokenError;

export { Clock, TokenCallOptions, TokenError, TokenManager, TokenSource, TokenStore, attachBearer, clientCredentials, createTokenManager, logEvents, loginPassword, memoryStore, toTokenError };
export type { AttachOptions, Attachment, Client, ClientCredentialsOptions, EventLog, Login, LoginPasswordOptions, ProvidedCredentials, RenewalOptions, RetryOptions, TokenManagerOptions, TokenServiceOptions };
