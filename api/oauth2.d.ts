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

import { AxiosRequestConfig } from 'axios';

/** How the calls to a token service travel. */
interface TokenCallOptions {
    /** Transport settings for token calls only: proxy, agents, adapter, extra headers. Read once. */
    transport?: Pick<AxiosRequestConfig, 'adapter' | 'headers' | 'httpAgent' | 'httpsAgent' | 'proxy' | 'socketPath' | 'lookup'> | undefined;
    /** Send credentials over plain http to hosts that are not loopback. Default false. */
    allowInsecureHttp?: boolean | undefined;
}

import 'axios';

/**
 * Writes into the body or the headers of a token call what proves the client, such as `PrivateKeyJwt(key)` of oauth4webapi.
 */
type ClientAuthentication = (as: {
    issuer: string;
}, client: {
    client_id: string;
}, body: URLSearchParams, headers: Headers) => void | Promise<void>;

interface OAuth2Options {
    /** Address of the token endpoint, as the metadata of the server names it. A query is kept. */
    tokenEndpoint: string | URL;
    clientId: string;
    /** Text, or a function asked at each exchange, e.g. of a secret manager. Absent: a public client. */
    clientSecret?: string | (() => string | Promise<string>) | undefined;
    /**
     * `basic` (default with a secret), `post`, `none` (default without one), or a function such as `PrivateKeyJwt(key)` of
     * oauth4webapi: it writes into body and headers.
     */
    clientAuthentication?: 'basic' | 'post' | 'none' | ClientAuthentication | undefined;
    /** What such a function is told as `issuer`, which becomes the audience of a signed assertion. Default: `tokenEndpoint`. */
    issuer?: string | undefined;
    /**
     * `client_credentials` (default), or `login`: a person logs in elsewhere, and the tokens come by `adopt()`. Without a refresh
     * token the manager then rejects with `ERR_LOGIN_REQUIRED`.
     */
    grant?: 'client_credentials' | 'login' | undefined;
    /** Text with spaces between, or a list. Sent with every exchange. */
    scope?: string | readonly string[] | undefined;
    /** More members of every request: `audience`, `resource`, … */
    parameters?: Readonly<Record<string, string>> | undefined;
    /**
     * What the server does with a refresh token that was used. `single-use` (default): it is dead. `reusable`: it stays good, and an
     * answer without a refresh token keeps it. Of client credentials no refresh token is kept (RFC 6749, section 4.4.3), unless
     * this is given.
     */
    refreshTokens?: 'single-use' | 'reusable' | undefined;
    /** Ms for which the server documents to accept a refresh token that was used. Default 0. */
    reuseGraceMs?: number | undefined;
    /** Lifetime in ms where an answer has no `expires_in`, which is only recommended. Default 300 000. */
    defaultLifetimeMs?: number | undefined;
    /** Names the account; default `clientId`. Each login needs its own: two of them must not meet in a store. */
    account?: string | undefined;
    /** Transport settings for token calls only: proxy, agents, adapter, extra headers. Read once. */
    transport?: TokenCallOptions['transport'];
    /** Send credentials over plain http to hosts that are not loopback. Default false. */
    allowInsecureHttp?: boolean | undefined;
}

/**
 * Any OAuth 2.0 token endpoint (RFC 6749, sections 2.3, 4.4, 5 and 6): client credentials, or refresh tokens of a login that
 * happened elsewhere (`adopt`). `invalid_grant` on a refresh: the refresh token was refused, and is suspicious unless explained.
 * `invalid_client`: the client was refused, and the refresh token is kept.
 *
 * It names no origin, since the API is hardly ever at that of the authorization server: tokens go to the `baseURL` of the
 * instance, or to the `origins` of `attachBearer`.
 *
 * @throws {TypeError | RangeError} naming the option.
 */
declare function oauth2(options: OAuth2Options): TokenSource;

export { oauth2 };
export type { ClientAuthentication, OAuth2Options };
