import type { LoginReason, TokenErrorCode } from './errors.ts'
import type { Ending, Identity, StoredTokens } from './stored-tokens.ts'
import type { Whole } from './whole.ts'

/** An instant of the monotonic clock of a machine, which cannot be set. Comparable within one boot only. */
export interface MachineInstant {
  readonly boot: string
  readonly at: number
}

/** The terms on which an owner acquires a lease. With `login`, the lease neither presents nor changes the tokens of another login. */
export interface LeaseTerms extends Pick<Identity, 'login'> {
  /** How long the service accepts a used refresh token. Infinity: until the token expires. Default 0. */
  readonly graceMs?: number | undefined
  /** Whether the lease may be granted in a cool-down that is not firm. */
  readonly breaksCoolDown?: boolean | undefined
  /**
   * How to present a refresh token that has been in doubt for longer than the grace (R8, `Rules`). Absent: it is not presented, because the source can obtain
   * (`isOfLogin`).
   */
  readonly inDoubt?: ((doubtAt: number) => Whole<Pick<Lease, 'isLastResort' | 'isRestored'>>) | undefined
  /** The longest time until an owner of a login checks the record, ms. Within this time after a loss of the record, owners write back what they have seen. */
  readonly maxStalenessMs?: number | undefined
  /** The digest of the owner's credentials. Undefined: unknown. */
  readonly credentialsDigest?: string | undefined
  readonly others?: Others | undefined
  readonly view?: View | undefined
}

/** Whether only a user can obtain tokens. Then nothing can replace the refresh token, so it is presented even if in doubt. */
export const isOfLogin = (rules: Pick<LeaseTerms, 'inDoubt'> | undefined) => rules?.inDoubt !== undefined

/** The terms of an owner that asks for nothing. They are own members: see `Whole`. */
export const NO_TERMS: Whole<LeaseTerms> = {
  ...{ login: undefined, graceMs: undefined, breaksCoolDown: undefined, inDoubt: undefined },
  ...{ maxStalenessMs: undefined, credentialsDigest: undefined, others: undefined, view: undefined },
}

/**
 * Lets a step of a shared record see the tokens of one resource (`forResource`). A record that ignores the view shows those of the login. `Step` is a
 * type of `src/record`, which core does not import.
 */
export type View = <Step>(step: Step) => Step

/** The terms on which an owner acquires the lease for a logout. */
export interface EndTerms extends Ending {
  readonly others?: Others | undefined
}

/** What an owner of a shared record knows about the other owners. */
export interface Others {
  /** Exchanges that were made without the record may still be in flight. */
  readonly overlap?: boolean | undefined
  /** The name of an owner whose process died during its exchange. Its lease blocks no other owner, and leaves the refresh token in doubt, not dead. */
  readonly dead?: string | undefined
  /** This owner has seen its own clock jump. Such a jump makes no lease expire, so every open lease counts in full. */
  readonly distrustsClock?: boolean | undefined
}

export const NO_OTHERS: Whole<Others> = { overlap: undefined, dead: undefined, distrustsClock: undefined }

export type Missing = Extract<LoginReason, 'none-yet' | 'logged-out' | 'lost'>

/** What an owner learns about its login without a lease. */
export type CheckResult =
  | { readonly kind: 'newer'; readonly tokens: StoredTokens }
  | { readonly kind: 'cooling'; readonly coolDown: CoolDown }
  | { readonly kind: 'missing'; readonly missing: Missing }

export type LeaseResult =
  | { readonly kind: 'newer'; readonly tokens: StoredTokens }
  /** The remaining cool-down. */
  | { readonly kind: 'cooling'; readonly coolDown: CoolDown }
  /** `by`: the owner that makes an exchange. Undefined while that owner pauses before its next exchange. */
  | { readonly kind: 'busy'; readonly remainingMs: number; readonly by?: string | undefined }
  | Lease

/** The right to make one exchange. Pass the same object back to the record: a store may compare identities, so a copy would be a different lease. */
export interface Lease {
  readonly kind: 'granted'
  readonly view?: View | undefined
  readonly fence: number
  /** The version of the record when it granted the lease, with or without tokens. */
  readonly version: number
  /** The number of the login at that time; 0: none. Absent in a private record. */
  readonly login?: number | undefined
  /** The epoch of the register at that time. */
  readonly epoch?: string | undefined
  readonly tokens?: StoredTokens | undefined
  /** The stored refresh token may be presented: it is neither retired nor, except as a last resort, in doubt for longer than the grace. */
  readonly presentable: boolean
  /** The stored refresh token may have been spent by an exchange whose response was lost. */
  readonly isDoubted?: boolean | undefined
  /** Logins only: the refresh token is in doubt, and may be presented only if no access token is valid. */
  readonly isLastResort?: boolean | undefined
  /** Logins only: the doubt comes from the store, which may have lost writes. */
  readonly isRestored?: boolean | undefined
  /** Logins only: consecutive rejections that left the fate of the refresh token unclear. `sinceMs`: the age of the first. */
  readonly unclear?: { readonly says: string; readonly times: number; readonly sinceMs: number } | undefined
  /** Why there are no tokens. */
  readonly missing?: Missing | undefined
  /** How many earlier requests that presented the refresh token got a complete 5xx. */
  readonly presentations: number
  /** Consecutive failed renewals of all owners. */
  readonly failures: number
  /** Another exchange of the account may have been in flight when the stored tokens were issued. */
  readonly overlapped?: boolean | undefined
  /** The tokens belong to this owner alone, because the shared store is unavailable. */
  readonly isPrivate?: boolean | undefined
}

/**
 * The fate of the presented refresh token. `keep`: not spent, or none was presented. `counted`: its request got a complete 5xx, and it may be presented a few more
 * times. `doubtful`: may be spent. `dead`: rejected by the service. A dead token is never presented again. A doubtful token is presented only within
 * the service's grace: after that, the service could mistake it for a stolen one. With a login, it is also presented if no access token is valid. The
 * fate does not apply to newer tokens in the record.
 */
export type RefreshTokenFate = 'keep' | 'counted' | 'doubtful' | 'dead'

export interface ReleaseResult {
  /** The stored tokens, if they are newer than those of the lease. */
  readonly newer?: StoredTokens | undefined
  /** Another exchange of the account may have been in flight: the record has granted another lease since, or the stored tokens are `overlapped`. */
  readonly contested: boolean
}

/** The owner retries after `ms`. The record reserves the lease for it until then, plus `RESERVE_MS`. */
export interface Retry {
  readonly kind: 'retry'
  readonly ms: number
  readonly code?: undefined
}
/** What follows a failed exchange. */
export type Next = Retry | CoolDown
/** What an owner reports to the record after a failed exchange. */
export interface Report {
  readonly fate: RefreshTokenFate
  /** What follows, if it applies to the other owners too. Absent: any owner may acquire the lease next. */
  readonly shared?: Next | undefined
  /** Deletes the stored tokens: the access token must not be used any more either. */
  readonly drops?: boolean | undefined
  /** Logins only: identifies an unclear rejection. The record counts consecutive rejections with the same text. */
  readonly says?: string | undefined
}
/** Decides on the report of an owner, given the state of the record. Pure: if another owner was faster, the store calls it again. */
export type Decide = (result: ReleaseResult) => Report
/** Must exceed the time that the owner's next `acquire` takes to reach the store. */
export const RESERVE_MS = 1_000

/** Reported if nothing was presented: the next owner may acquire the lease. */
export const KEPT = { fate: 'keep', shared: undefined, drops: undefined, says: undefined } as const satisfies Report

/** The cool-down after a failed renewal: no owner calls the service for `ms`. Infinity: until `clear` or `adopt`. */
export interface CoolDown {
  readonly kind: 'cool-down'
  readonly ms: number
  /** Whether `renew()` must respect it too: the service asked for it or rejected the credentials, or a user must act. */
  readonly isFirm: boolean
  /** Consecutive failed renewals. */
  readonly failures: number
  readonly code: TokenErrorCode
  readonly status?: number | undefined
  readonly serviceCode?: string | undefined
  /** Why a login is required. */
  readonly loginReason?: LoginReason | undefined
  /** The digest of the rejected credentials. Owners with different credentials may call the service. */
  readonly by?: string | undefined
}
