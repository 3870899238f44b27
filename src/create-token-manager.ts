import type { TokenManagerOptions } from './core/manager-options.ts'
import { checkRuntime } from './core/own-runtime.ts'
import { PLAIN } from './core/plain-login.ts'
import { Manager } from './core/manager.ts'
import type { LoginManager, TokenManager } from './core/token-manager.ts'
import type { LoginSource } from './core/token-source.ts'
import { toTokenError } from './wire/to-token-error.ts'

/**
 * Creates the manager of one account. The manager makes no token call until a caller asks for a token. Give each manager a source of its own: that of
 * `loginPassword` keeps the time of the last signed answer, so the answers of one manager would look old to another.
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
 * @throws {TypeError | RangeError} naming the option, and its value unless that may be a secret; or naming what the runtime lacks.
 */
export function createTokenManager(options: TokenManagerOptions & { source: LoginSource }): LoginManager
export function createTokenManager(options: TokenManagerOptions): TokenManager
export function createTokenManager(options: TokenManagerOptions): TokenManager {
  checkRuntime()
  return new Manager(options, toTokenError, PLAIN)
}
