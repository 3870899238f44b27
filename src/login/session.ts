import { CREDENTIAL_RULES } from '../core/credential-rules.ts'
import type { LoginLayer } from '../core/login-layer.ts'
import type { Rules } from '../core/situation.ts'
import { bare } from '../core/whole.ts'
import { loginLayer } from './layer.ts'

/** The pause between two attempts with a rejected session, ms. The user may have logged in meanwhile. */
const SESSION_COOL_DOWN_MS = 10_000

/** The rules of credentials, with a shorter cool-down after the session is rejected. */
const SESSION_RULES: Rules = /* @__PURE__ */ bare<Rules>({
  ...CREDENTIAL_RULES,
  consequenceOf(error, situation, policy) {
    const consequence = CREDENTIAL_RULES.consequenceOf(error, situation, policy)
    if (error.code !== 'ERR_LOGIN_REQUIRED') return consequence
    return { ...consequence, mostMs: consequence.mostMs ?? SESSION_COOL_DOWN_MS }
  },
})

/**
 * For `login` of a source whose user has a session, such as a cookie: `obtain` exchanges the session for a token. If the service rejects the session
 * (`ERR_CREDENTIALS_REJECTED`, `ERR_LOGIN_REQUIRED`), a login is required. The manager then tries again for the next caller, at most once every 10 s, and
 * immediately after `reset()`.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { session } from 'axios-evergreen/login'
 *
 * const obtain = async () => {
 *   const response = await fetch('/session/token', { method: 'POST' })
 *   if (!response.ok) throw response // 401: a login is required
 *   const { accessToken, expiresIn } = (await response.json()) as { accessToken: string; expiresIn: number }
 *   return { accessToken, accessLifetimeMs: expiresIn * 1_000 }
 * }
 * const tokens = createTokenManager({ source: { id: 'page', login: session, obtain } })
 * ```
 */
export const session: LoginLayer = /* @__PURE__ */ loginLayer('session', SESSION_RULES, 0)
