import type { LoginReason, TokenError } from './errors.ts'
import type { Events } from './events.ts'
import type { ManagerSettings } from './manager-options.ts'
import type { RejectedRefreshToken, Suspicion } from './suspicion.ts'
import type { Exchange } from './token-source.ts'
import type { CoolDown, Lease, RefreshTokenFate, ReleaseResult, Report, Retry } from './lease.ts'
import type { NewTokens } from './stored-tokens.ts'
import type { Whole } from './whole.ts'

/** The settings that a plan depends on. */
export interface Policy extends Pick<ManagerSettings, 'retry' | 'graceMs' | 'onSuspicious'> {
  readonly renewal: Pick<ManagerSettings['renewal'], 'maxWaitMs'>
  readonly rules: Rules
}

/** The facts about a failed exchange, except its error. Durations in ms. */
export interface Situation {
  readonly exchange: Exchange
  /** The number of the failed request in its renewal, from 1. */
  readonly attempt: number
  /** The most requests that this renewal may make. */
  readonly maxAttempts: number
  /** Consecutive failed renewals if this one fails too. */
  readonly failures: number
  /** Time since the lease was granted: the request, and the random pause before it, if any. */
  readonly sinceLeaseMs: number
  /** How long requests can still use the current access token without waiting. */
  readonly usableMs: number
  /** Wrong signatures in this renewal, including this one. */
  readonly signatureFailures: number
  /** Uniform in [0, 1). */
  readonly chance: number
  /** No other process respects the cool-down: there is no store, or it is unavailable. */
  readonly isAlone?: boolean | undefined
  readonly lease: Pick<Lease, 'tokens' | 'presentations' | 'isDoubted' | 'isRestored' | 'overlapped' | 'unclear'>
  /** The state of the record when the lease is released. Undefined: the store is unreachable. */
  readonly meanwhile?: Meanwhile | undefined
  /** The API rejected the current access token. */
  readonly isRejected?: boolean
  /** Presentations in this renewal that the service may have acted on, including this one. */
  readonly presented?: number
  /** An earlier request that presented the refresh token got a 5xx, perhaps from a gateway in front of the service (evidence only). */
  readonly met5xx?: boolean
  /** The credentials have changed since these tokens were obtained. */
  readonly isRotated?: boolean
  /** The digest of this manager's credentials, if known. */
  readonly credentialsDigest?: string | undefined
  /** Why the renewal is halted. */
  readonly halted?: 'outdated' | 'closed' | undefined
}

/** `newer`: another owner has stored tokens since the lease was granted. `fit`: the renewal can adopt them. */
export interface Meanwhile extends Pick<ReleaseResult, 'contested'> {
  readonly newer?: 'fit' | 'unfit' | undefined
}

/** What the choice of an exchange depends on, except the lease. */
export interface RenewalState extends Pick<Situation, 'usableMs' | 'isRejected' | 'failures'> {
  /** The failure of the last refresh requires an obtain, whatever the record holds. */
  readonly mustObtain: boolean
  /** The caller wants a renewal in any case (`renew()`). */
  readonly isForced: boolean
}

/** The rules that differ between sources with credentials and sources whose users log in: `credential-rules.ts`, `src/login/login-rules.ts`. */
export interface Rules {
  /** How to present a refresh token that has been in doubt for longer than the grace. Absent: it is discarded. @param doubtAt 0: at an unknown time. */
  readonly inDoubt?: (doubtAt: number) => Whole<Pick<Lease, 'isLastResort' | 'isRestored'>>
  /** Chooses the exchange. @returns The refresh token to present; undefined: obtain; or a plan instead of an exchange. */
  choose(lease: Lease, state: RenewalState): string | undefined | Plan
  /** The table of outcomes. The fate of the refresh token depends on what the source reports about it, else on the outcome, never on the HTTP status. */
  consequenceOf(error: TokenError, situation: Situation, policy: Policy): Consequence
  /**
   * Rates the rejection of a refresh token. A token that is rejected before it expires must be treated as suspicious (the payment
   * service's specification, section 3). Called only if the record has no newer tokens.
   *
   * @returns Undefined if the token had expired.
   */
  suspicionOf(rejected: RejectedRefreshToken): Suspicion | undefined
  /** @returns The error for callers and listeners if the failure ends the login; undefined: the failure itself. */
  errorAfter?(
    error: TokenError,
    consequence: Consequence,
    suspicion: Suspicion | undefined,
    situation: Pick<Situation, 'lease' | 'meanwhile'>,
  ): TokenError | undefined
  /** The share of the refresh token's known lifetime after which renewal is due, if only a refresh token can renew. */
  readonly refreshShare?: number
  /** @returns The anomaly and its message if an adopted login lacks something. */
  anomalyOf?(grant: Pick<NewTokens, 'refreshToken'>): Parameters<Events['anomaly']> | undefined
}

/** What a failed exchange means for the presented refresh token and for the rest of the renewal. */
export interface Consequence {
  readonly fate: RefreshTokenFate
  /** `obtain`: immediately, with the credentials. `while-usable`: nothing while the access token is usable. `login`: a user must log in. */
  readonly next: 'stop' | 'retry' | 'obtain' | 'while-usable' | 'login'
  /** The service rejected the refresh token as invalid: suspicious, unless something explains it (the payment service's specification, section 3). */
  readonly foundInvalid?: boolean
  /** Why a login is required, if already known. */
  readonly reason?: LoginReason
  /** Identifies an unclear rejection. The record counts consecutive rejections with the same text. */
  readonly says?: string
  /** The service may still be processing the presentation whose response was lost. */
  readonly isFirstDoubt?: boolean
  /** Limits of the cool-down if the renewal fails, ms. */
  readonly leastMs?: number | undefined
  readonly mostMs?: number | undefined
}

/** What to do after a failed exchange, or instead of an exchange. */
export interface Plan extends Report {
  readonly error: TokenError
  /** Report the rejection of the refresh token as suspicious. */
  readonly suspicion?: (Suspicion & Pick<RejectedRefreshToken, 'remainingMs'>) | undefined
  /** Adopt the tokens of another owner: nothing else follows. */
  readonly adopts: boolean
  /** The next exchange is an obtain, in this renewal or the next one. */
  readonly obtains: boolean
  /** This manager never presents the refresh token again, even if the report does not reach the store. */
  readonly isSpent: boolean
  /** The service rejected the credentials, which settles a suspicion. */
  readonly isAccountRejected: boolean
  /** The service asked for a pause. */
  readonly hasRetryAfter: boolean
  /** The next request of this renewal, or the cool-down of all owners if the renewal fails. */
  readonly next: Retry | OwnCoolDown
}

/** The cool-down of this manager after a failed renewal. */
export interface OwnCoolDown extends CoolDown {
  /** Only this manager cools down, and only while its access token is usable: the cool-down ends as soon as the API rejects the token. */
  readonly whileUsable?: boolean | undefined
}
