import type { LoginReason, TokenError } from './errors.ts'
import type { Events } from './events.ts'
import type { HeldToken } from './held-token.ts'
import { LOGIN_CODE, type LoginLayer } from './login-layer.ts'
import type { LoginGenerations } from './login-generations.ts'
import type { Rules } from './situation.ts'
import type { LoginStatus } from './status.ts'
import type { AdoptedGrant, Exchange } from './token-source.ts'
import type { StoredTokens } from './token-store.ts'
import type { WaitingRoom } from './waiting-room.ts'

/** What `adopt()` takes: a login, or the promise of one. */
export type GivenLogin = AdoptedGrant | PromiseLike<AdoptedGrant | undefined>

/**
 * Whether the service confirmed the revocation of all tokens, and if not, why. `nothing`: there were no tokens. `no-endpoint`: the source knows no
 * address to revoke at. `refused`: the service refused. `unavailable`: the service could not be reached, or failed; the next `logout()` tries again.
 */
export type LogoutResult =
  { revoked: true } | { revoked: false; reason: 'nothing' | 'no-endpoint' | 'refused' | 'unavailable' }

/** The code that a `LoginLayer` brings. Core knows its shape only. Without a layer `plain-login.ts` stands in its place. */
export interface LoginCode<Account> {
  readonly rules: Rules
  /** Only a person can obtain. The record, and whoever reads what a source threw, are told so. */
  readonly needsLogin: boolean
  /** For how long a refresh token is kept that an answer does not replace, ms, at least. */
  readonly keepsMs: number
  /** @param isAlone Whether there is no store that may hold a login. */
  view(events: Events, isAlone: boolean): LoginView
  open(account: Account, host: LoginHost): { readonly logins: Logins; readonly checker: LoginChecker }
}

export function codeOf<Account>(layer: LoginLayer): LoginCode<Account> {
  return Reflect.get(layer, LOGIN_CODE) as LoginCode<Account>
}

/** What a manager knows of its login. */
export interface LoginView {
  readonly generations: LoginGenerations
  /** Logins are under way. */
  readonly isPending: boolean
  /** Whether the manager has been told whether there is a login. */
  readonly isKnown: boolean
  readonly isPresent: boolean
  /** The number of the login that the manager has, if the record has told it. */
  readonly number: number | undefined
  /** A login is required. @param reason Default: why, if the service refuses what it was given. @param failure The response of the service. */
  errorOfLoss(reason?: LoginReason, failure?: Pick<TokenError, 'status' | 'serviceCode'>): TokenError
  /** What `status()` says of the login. @param held The last tokens. */
  statusWith(held?: Pick<HeldToken, 'living' | 'stored' | 'isRejected'>): Pick<LoginStatus, 'login' | 'loginReason'>
  /** Whether tokens of the record are those of another login. */
  isOther(tokens: StoredTokens): boolean
  /** Whether this access token belongs to a login that has ended. */
  isOfEndedLogin(token: string): boolean
  /** The login has these tokens from now on. */
  held(accessToken: string, refreshToken?: string): void
  /** The record holds tokens that will not do for this renewal. */
  skipped(tokens: StoredTokens): void
  /** What the failure of a token call means for the login. */
  errorOf(error: TokenError, exchange: Exchange): TokenError
}

/** What logins need of their machine. */
export interface LoginHost {
  /** The callers who wait. */
  readonly room: Pick<WaitingRoom, 'dismiss'>
  /** Whether nothing is in progress that would learn the same from the record as a look. */
  isIdle(): boolean
  /** Why a closed manager does nothing. */
  denial(why: 'closed'): TokenError
  /** Puts tokens that came from elsewhere to use. */
  use(tokens: StoredTokens): void
  /** Forgets the token and the failures, and outdates the renewal in flight. */
  forget(): void
  /** Starts the next renewal if callers still wait. */
  renewIfAwaited(): void
  /** The login that was under way did not come: what waited for it goes on. */
  resume(): void
  /** Runs `work` when no exchange is in flight. */
  afterExchange<Value>(work: () => Promise<Value>): Promise<Value>
}

/** The acts of one manager, and what happens to its login. */
export interface Logins {
  /** @throws {TypeError} naming the member. */
  adopt(given: AdoptedGrant): Promise<void>
  adoptPromised(given: PromiseLike<AdoptedGrant | undefined>): Promise<void>
  /** Revokes a promised login that a later act has overtaken. */
  discard?(given: AdoptedGrant): Promise<void>
  logout(): Promise<LogoutResult>
  reset(): Promise<void>
  /** Tokens come into use that a renewal has brought. */
  use(tokens: StoredTokens, by: 'here' | 'elsewhere'): void
  /** A login is required. @returns For how long an access token still serves, ms; undefined: none does. */
  lost(error: TokenError, by: 'here' | 'elsewhere'): number | undefined
  /** Of a login that is lost: its access token may serve no longer. */
  concludeLoss(): void
  /** The manager has stopped: the access token is dropped, even if it still lives. */
  stop(by: 'here' | 'elsewhere'): void
}

/** Hears of the acts of other owners of the record. */
export interface LoginChecker {
  /** Looks now. Never rejects. */
  check(): Promise<void>
  /** As `look`. Callers who come meanwhile share it. */
  checkOnce(): Promise<void>
  /** The manager has just learnt of its login. */
  learned(): void
  /** What a look has waited for has ended. */
  resume(): void
  /** Looks now, and whenever the record may have changed. @returns stop */
  follow(): () => void
  close(): void
}
