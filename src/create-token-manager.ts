import type { TokenManagerOptions } from './core/manager-options.ts'
import { Manager, type TokenManager } from './core/token-manager.ts'
import { toTokenError } from './wire/to-token-error.ts'

/**
 * Creates the manager of one account. The manager makes no token call until a caller asks for a token.
 *
 * @example
 * ```ts
 * import { clientCredentials, createTokenManager } from 'axios-evergreen'
 *
 * const tokens = createTokenManager({
 *   source: clientCredentials({
 *     baseUrl: 'https://payments.example.com/api',
 *     clientId: 'my-key',
 *     clientSecret: 'my-secret',
 *   }),
 * })
 * const token = await tokens.getAccessToken()
 * ```
 * @throws {TypeError | RangeError} naming the option, and its value unless that may be a secret.
 */
export function createTokenManager(options: TokenManagerOptions): TokenManager {
  return new Manager(options, toTokenError)
}
