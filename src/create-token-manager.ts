import type { TokenManagerOptions } from './core/manager-options.ts'
import { checkRuntime } from './core/own-runtime.ts'
import { PLAIN } from './core/plain-login.ts'
import { Manager } from './core/manager.ts'
import type { LoginManager, TokenManager } from './core/token-manager.ts'
import type { LoginSource } from './core/token-source.ts'
import { toTokenError } from './wire/to-token-error.ts'

/**
 * Creates the token manager of one account. It makes no token request until a caller needs a token. Use a separate source for each manager: a source
 * of `loginPassword` remembers the time of the last signed response, so the responses to one manager would look outdated to another.
 *
 * @example
 * ```ts
 * import { clientCredentials, createTokenManager } from 'axios-evergreen'
 *
 * const tokens = createTokenManager({
 *   source: clientCredentials({
 *     baseUrl: 'https://payments.example.com/api',
 *     clientId: process.env.CLIENT_ID ?? '',
 *     clientSecret: process.env.CLIENT_SECRET ?? '',
 *   }),
 * })
 * const token = await tokens.getAccessToken()
 * ```
 * @throws {TypeError | RangeError} Naming the option, and its value unless it may be a secret; or naming what the runtime lacks.
 */
export function createTokenManager(options: TokenManagerOptions & { source: LoginSource }): LoginManager
export function createTokenManager(options: TokenManagerOptions): TokenManager
export function createTokenManager(options: TokenManagerOptions): TokenManager {
  checkRuntime()
  return new Manager(options, toTokenError, PLAIN)
}
