import { Meter, Tracer, Attributes } from '@opentelemetry/api';
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

import './types-C9Ye8Nzm.js';

interface InstrumentOptions {
    /** Where the metrics go, such as `metrics.getMeter('payments')`. */
    meter?: Meter | undefined;
    /** Where the spans of token calls go, such as `trace.getTracer('payments')`. */
    tracer?: Tracer | undefined;
    /** Put on all metrics and spans. Needed where several managers share a meter, e.g. `{ 'evergreen.account': 'bakery' }`. */
    attributes?: Attributes | undefined;
}
/**
 * Tells OpenTelemetry of a manager: token calls, renewals, the waiting of callers, the life that is left to the token,
 * suspicions, anomalies, and a span for each token call. Holds no token and no credential. A request that finds a fresh
 * token costs nothing more.
 *
 * @example
 * const stop = instrument(tokens, { meter: metrics.getMeter('payments'), tracer: trace.getTracer('payments') })
 * @returns a function that ends it.
 * @throws {TypeError} naming the option, or when the manager is instrumented already.
 */
declare function instrument(tokens: Pick<TokenManager, 'onAny' | 'status'>, options: InstrumentOptions): () => void;

export { instrument };
export type { InstrumentOptions };
