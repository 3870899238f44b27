/**
 * Token managers, the token sources of the payment service, and the attachment to axios instances.
 *
 * @module axios-evergreen
 */
export { attachBearer } from './axios/attach-bearer.ts'
export type { AttachOptions } from './axios/attach-options.ts'
export type { Attachment } from './axios/attachments.ts'
export { isLoginRequired } from './client/is-login-required.ts'
export type { Clock } from './core/clock.ts'
export { isTokenError, TokenError } from './core/errors.ts'
export type { ExchangeOutcome, LoginReason, TokenErrorCode, TokenErrorDetails } from './core/errors.ts'
export type { AnomalyKind, RenewalCause, SuspicionEvent, TokenEvents } from './core/events.ts'
export type { RenewalOptions, RetryOptions, TokenManagerOptions } from './core/manager-options.ts'
export { type EventLog, logEvents } from './core/log-events.ts'
export { memoryStore } from './core/memory-store.ts'
export type { TokenStatus } from './core/status.ts'
export type { LogoutResult } from './core/revocation.ts'
export type { TokenManager } from './core/token-manager.ts'
export type { WaitOptions } from './core/waiting-room.ts'
export type { AdoptedGrant, ExchangeContext, TokenGrant, TokenSource } from './core/token-source.ts'
export type { TokenStore } from './core/token-store.ts'
export { createTokenManager } from './create-token-manager.ts'
export { clientCredentials, type Client, type ClientCredentialsOptions } from './service/client-credentials.ts'
export { loginPassword, type Login, type LoginPasswordOptions } from './service/login-password.ts'
export type { ProvidedCredentials } from './service/credentials.ts'
export type { TokenServiceOptions } from './service/token-endpoint.ts'
export type { TokenCallOptions } from './wire/token-call.ts'
export { toTokenError } from './wire/to-token-error.ts'
