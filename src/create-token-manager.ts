import type { TokenManagerOptions } from './core/manager-options.ts'
import { checkRuntime } from './core/runtime.ts'
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
 *     clientId: process.env.CLIENT_ID ?? '',
 *     clientSecret: process.env.CLIENT_SECRET ?? '',
 *   }),
 * })
 * const token = await tokens.getAccessToken()
 * ```
 * @throws {TypeError | RangeError} naming the option, and its value unless that may be a secret; or naming what the runtime lacks.
 */
export function createTokenManager(options: TokenManagerOptions): TokenManager {
  checkRuntime()
  return new Manager(options, toTokenError)
}
