/**
 * A token source for any OAuth 2.0 server.
 *
 * @module axios-evergreen/oauth2
 */
export { type Challenge, challengeOf } from './challenge-of.ts'
export { fromTokenResponse } from './from-token-response.ts'
export { forResource } from './for-resource.ts'
export type { ResourceTokens } from '../core/token-manager.ts'
export type { ResourceOptions } from '../core/resource.ts'
export { oauth2 } from './oauth2.ts'
export type { ErrorMeaning, OAuth2Options } from './oauth2-options.ts'
