import type { LoginReason, TokenError } from './errors.ts'
import type { Events } from './events.ts'
import type { ManagerSettings } from './manager-options.ts'
import type { RejectedRefreshToken, Suspicion } from './suspicion.ts'
import type { Exchange } from './token-source.ts'
import type { CoolDown, Lease, NewTokens, RefreshTokenFate, ReleaseResult, Report, Retry } from './token-store.ts'

/** What a plan takes from the settings. */
export interface Policy extends Pick<ManagerSettings, 'retry' | 'graceMs' | 'onSuspicious'> {
  readonly renewal: Pick<ManagerSettings['renewal'], 'maxWaitMs'>
  readonly rules: Rules
}

/** What the manager knows of an exchange that failed, beside its error. Durations in ms. */
export interface Situation {
  readonly exchange: Exchange
  /** The number of the failed call in its renewal, from 1. */
  readonly attempt: number
  /** Calls that this renewal may make. */
  readonly maxAttempts: number
  /** Renewals in a row that gave up, if this one does, too. */
  readonly failures: number
  /** How long ago the claim of the call was granted: the call itself, and the pause that may spread it. */
  readonly sinceLeaseMs: number
  /** How long the old access token still serves requests without a wait. */
  readonly usableMs: number
  /** Signatures found wrong in this renewal, this one included. */
  readonly signatureFailures: number
  /** Uniform in [0, 1). */
  readonly chance: number
  readonly lease: Pick<Lease, 'tokens' | 'presentations' | 'isDoubted' | 'isRestored' | 'overlapped' | 'unclear'>
  /** What the record says when it is told of the failure. Undefined: the store cannot be reached. */
  readonly meanwhile?: Meanwhile | undefined
  /** The API has refused the old access token. */
  readonly isRejected?: boolean
  /** Presentations of this renewal that the service may have acted on, this one included. */
  readonly presented?: number
  /** The refresh token met a 5xx before, which may come from a gateway that knows nothing (evidence only). */
  readonly met5xx?: boolean
  /** The credentials are others than those that the obtain of this pair used. */
  readonly isRotated?: boolean
  /** The mark of the credentials of this manager, as far as it is known. */
  readonly credentialsDigest?: string | undefined
  /** Why the renewal is halted. */
  readonly halted?: 'outdated' | 'closed' | undefined
}

/** `newer`: another owner has stored tokens meanwhile, and whether they will do. */
export interface Meanwhile extends Pick<ReleaseResult, 'contested'> {
  readonly newer?: 'fit' | 'unfit' | undefined
}

/** What the choice of an exchange depends on, beside the claim. */
export interface Beforehand extends Pick<Situation, 'usableMs' | 'isRejected' | 'failures'> {
  /** The next exchange must be an obtain, whatever the record holds: the failure of the last refresh requires it. */
  readonly mustObtain: boolean
  /** The caller wants a renewal in any case. */
  readonly isForced: boolean
}

/** What differs between sources that can obtain and those that need a person: `credential-rules.ts` and `src/login/login-rules.ts`. */
export interface Rules {
  /** How a refresh token is presented that is in doubt for longer than the grace. Absent: it is given up. @param doubtAt 0: at an unknown time. */
  readonly inDoubt?: (doubtAt: number) => Pick<Lease, 'isLastResort' | 'isRestored'>
  /** @returns The refresh token to present; undefined: obtain; or the plan that takes the place of an exchange. */
  choose(lease: Lease, beforehand: Beforehand): string | undefined | Plan
  /** The table of outcomes. The source says what became of the refresh token, else the outcome does. No HTTP status decides. */
  consequenceOf(error: TokenError, situation: Situation, policy: Policy): Consequence
  /**
   * What may explain the refusal of a refresh token. A token that is found invalid while not expired must be treated as suspicious (specification,
   * section 3). The record has been asked before whether it holds a newer pair.
   *
   * @returns undefined if the token had expired.
   */
  suspicionOf(refused: RejectedRefreshToken): Suspicion | undefined
  /** @returns What callers and listeners are told of a login that the failure ends; undefined: the failure itself. */
  errorAfter?(
    error: TokenError,
    consequence: Consequence,
    suspicion: Suspicion | undefined,
    situation: Pick<Situation, 'lease' | 'meanwhile'>,
  ): TokenError | undefined
  /** Renewal is due at this share of the known life of a refresh token, because nothing but a refresh token renews. */
  readonly refreshShare?: number
  /** @returns What a login lacks that was adopted: the kind of the anomaly, and its message. */
  lackOf?(grant: Pick<NewTokens, 'refreshToken'>): Parameters<Events['anomaly']> | undefined
}

/** What a failed exchange means for the refresh token that was presented, and for the rest of the renewal. */
export interface Consequence {
  readonly fate: RefreshTokenFate
  /** `obtain`: at once, with the credentials. `while-served`: nothing until the access token no longer serves. `login`: only a person can help. */
  readonly next: 'stop' | 'retry' | 'obtain' | 'while-served' | 'login'
  /** The service found the refresh token invalid: suspicious, unless something explains it (specification, section 3). */
  readonly judged?: boolean
  /** Why a login is required, if that is known already. */
  readonly reason?: LoginReason
  /** What an unclear refusal says. The record counts those in a row that say the same. */
  readonly says?: string
  /** The service may still be busy with the presentation whose answer was lost. */
  readonly isFirstDoubt?: boolean
  /** Limits of the cool-down, if the renewal gives up, ms. */
  readonly leastMs?: number | undefined
  readonly mostMs?: number | undefined
}

/** What to do after an exchange that failed, or in the place of one. */
export interface Plan extends Report {
  readonly error: TokenError
  /** The refusal of the refresh token is to be reported. */
  readonly suspicion?: (Suspicion & Pick<RejectedRefreshToken, 'remainingMs'>) | undefined
  /** The tokens of another owner will do: nothing follows. */
  readonly adopts: boolean
  /** The next call is an obtain, in this renewal or in the next one. */
  readonly obtains: boolean
  /** The refresh token is never presented again, even if the store is not told. */
  readonly isSpent: boolean
  /** The credentials were refused, which settles a suspicion. */
  readonly isAccountRejected: boolean
  /** The service asked for a pause. */
  readonly hasRetryAfter: boolean
  /** The next call of this renewal; or the renewal gives up, and all owners of the record cool down. */
  readonly next: Retry | OwnCoolDown
}

/** What follows a renewal that gave up. */
export interface OwnCoolDown extends CoolDown {
  /** Only this manager cools down, and only as long as its access token serves: the cool-down ends as soon as the API refuses the token. */
  readonly whileUsable?: boolean | undefined
}
