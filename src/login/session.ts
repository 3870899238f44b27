import { CREDENTIAL_RULES } from '../core/credential-rules.ts'
import type { LoginLayer } from '../core/login-layer.ts'
import { loginLayer } from './layer.ts'

/**
 * For `login` of a source: a person has begun a session, such as a cookie, and `obtain` asks it for a token. If the service refuses that
 * (`ERR_CREDENTIALS_REJECTED`, `ERR_LOGIN_REQUIRED`), a login is required. The manager asks again when a caller asks, at most once in 10 s, and at once after
 * `reset()`.
 */
export const session: LoginLayer = /* @__PURE__ */ loginLayer('session', { rules: CREDENTIAL_RULES })
