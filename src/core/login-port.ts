import type { LoginReason, TokenError } from './errors.ts'
import type { CoolDown } from './lease.ts'
import type { Events } from './events.ts'
import type { HeldToken } from './held-token.ts'
import { LOGIN_CODE, type LoginLayer } from './login-layer.ts'
import type { LoginGenerations } from './login-generations.ts'
import type { Rules } from './situation.ts'
import type { LoginStatus } from './status.ts'
import type { AdoptedGrant, Exchange } from './token-source.ts'
import type { StoredTokens } from './stored-tokens.ts'
import type { WaitingRoom } from './waiting-room.ts'

/** The argument of `adopt()`: a login, or a promise of one. */
export type GivenLogin = AdoptedGrant | PromiseLike<AdoptedGrant | undefined>

/**
 * Whether the service confirmed the revocation of all tokens, and if not, why. `nothing`: there were no tokens. `no-endpoint`: the source has no
 * revocation endpoint. `refused`: the service rejected the request. `unavailable`: the service was unreachable or failed; the next `logout()` tries
 * again.
 */
export type LogoutResult =
  { revoked: true } | { revoked: false; reason: 'nothing' | 'no-endpoint' | 'refused' | 'unavailable' }

/** The implementation of a `LoginLayer`. Core defines only its interface. Without a layer, core uses `plain-login.ts`. */
export interface LoginCode<Account> {
  readonly rules: Rules
  /** The minimum time for which a refresh token is kept if a response does not replace it, ms. */
  readonly keepsMs: number
  /** @param isAlone Whether the manager has no store, which could hold a login. */
  readonly view: ((events: Events, isAlone: boolean) => LoginView) | undefined
  open(account: Account, host: LoginHost): { readonly logins: Logins; readonly checker: LoginChecker | undefined }
}

export function codeOf<Account>(layer: LoginLayer): LoginCode<Account> {
  return Reflect.get(layer, LOGIN_CODE) as LoginCode<Account>
}

/** The state of a login. The manager of a source with credentials has none. */
export interface LoginView {
  readonly generations: LoginGenerations
  /** Whether a promised login has not settled yet. */
  readonly isPending: boolean
  /** Whether callers wait for the promised login, because no other login can serve them. @param held The last tokens. */
  awaitsPending(held?: Pick<HeldToken, 'validToken' | 'stored' | 'isRejected'>): boolean
  /** Whether the manager knows if there is a login. */
  readonly isKnown: boolean
  readonly isPresent: boolean
  /** The number of the current login, if the record has reported it. */
  readonly number: number | undefined
  /**
   * @param reason Default: the reason that applies if the service rejects the tokens.
   * @param failure The response of the service.
   * @returns An `ERR_LOGIN_REQUIRED`.
   */
  errorOfLoss(reason?: LoginReason, failure?: Pick<CoolDown, 'status' | 'serviceCode'>): TokenError
  /** @returns The error of a caller whose login has ended. */
  errorOfEnd(): TokenError
  /** The part of `status()` about the login. @param held The last tokens. */
  statusWith(held?: Pick<HeldToken, 'validToken' | 'stored' | 'isRejected'>): Pick<LoginStatus, 'login' | 'loginReason'>
  /** Whether these tokens of the record belong to another login. */
  isOther(tokens: StoredTokens): boolean
  /** Whether this access token belongs to a login that has ended. */
  isOfEndedLogin(token: string): boolean
  /** Notes the new tokens of the login. */
  held(accessToken: string, refreshToken?: string): void
  /** Notes tokens of the record that this renewal cannot use. */
  skipped(tokens: StoredTokens): void
  /** @returns The error of a failed token request in terms of the login. */
  errorOf(error: TokenError, exchange: Exchange): TokenError
}

/** What the login code needs from the machine. */
export interface LoginHost {
  /** The waiting callers. */
  readonly room: Pick<WaitingRoom, 'dismiss'>
  /** Whether a check of the record is worthwhile: the manager is not closed, and no renewal is in flight, which would read the record anyway. */
  isIdle(): boolean
  /** @returns The error that a closed manager rejects with. */
  denial(why: 'closed'): TokenError
  /** Starts to use tokens that came from elsewhere. */
  use(tokens: StoredTokens): void
  /** Forgets the token and the failures, and supersedes the renewal in flight. */
  forget(): void
  /** Starts the next renewal if callers still wait. */
  renewIfAwaited(): void
  /** Resumes the work that waited for a pending login that did not take place. */
  resume(): void
  /** Runs `work` when no exchange is in flight. */
  afterExchange<Value>(work: () => Promise<Value>): Promise<Value>
}

/** The acts of one manager, and the events of its login. */
export interface Logins {
  /** @throws {TypeError} naming the member. */
  adopt(given: AdoptedGrant): Promise<void>
  /** Adopts the login that a promise resolves with, if any. */
  adoptPromised(given: PromiseLike<AdoptedGrant | undefined>): Promise<void>
  /** Revokes a promised login that a later act superseded. */
  discard?(given: AdoptedGrant): Promise<void>
  logout(): Promise<LogoutResult>
  reset(): Promise<void>
  /** Called with the tokens of a renewal when the manager starts to use them. */
  use(tokens: StoredTokens, by: 'here' | 'elsewhere'): void
  /** Called when a login is required. @returns How long the access token is still valid, ms; undefined: not at all. */
  lost?(error: TokenError, by: 'here' | 'elsewhere'): number | undefined
  /** Ends a lost login if its access token is no longer valid. */
  concludeLoss?(): void
  /** Called when the manager stops. Drops the access token, even if it is still valid. */
  stop(error: TokenError, by: 'here' | 'elsewhere'): void
}

/** Checks the record for the acts of its other owners. */
export interface LoginChecker {
  /** Checks now. Never rejects. */
  check(): Promise<void>
  /** Like `check`, but concurrent callers share one check. */
  checkOnce(): Promise<void>
  /** Called when the manager has just learned the state of its login. */
  learned(): void
  /** Makes a check that had to wait, once there is nothing left to wait for. */
  resume(): void
  /** Checks now, and whenever the record may have changed. @returns A function that stops the checks. */
  follow(): () => void
  close(): void
}
