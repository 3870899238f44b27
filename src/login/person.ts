import type { LoginLayer } from '../core/login-layer.ts'
import { loginLayer } from './layer.ts'
import { LOGIN_RULES } from './login-rules.ts'

/** A login keeps its refresh token if a response does not replace it (RFC 6749, section 6). */
const KEEPS_MS = Infinity

/**
 * For `login` of a source whose tokens only a user can obtain: `obtain` rejects with `ERR_LOGIN_REQUIRED`. The manager retires a refresh token only if the
 * service rejects it, never because it may have been used. `oauth2({ grant: 'login' })` and `mcpLogin` include this layer.
 *
 * @example
 * ```ts
 * import { createTokenManager, TokenError } from 'axios-evergreen'
 * import { person } from 'axios-evergreen/login'
 *
 * const tokens = createTokenManager({
 *   source: {
 *     id: 'payments',
 *     login: person,
 *     obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'Log in')),
 *     refresh: async (refreshToken) => ({ accessToken: `next to ${refreshToken.length}`, accessLifetimeMs: 60_000 }),
 *   },
 * })
 * await tokens.adopt({ refreshToken: 'of the login' })
 * ```
 */
export const person: LoginLayer = /* @__PURE__ */ loginLayer('person', LOGIN_RULES, KEEPS_MS)
