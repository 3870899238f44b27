import type { LoginCode } from '../core/login-code.ts'
import { LOGIN_CODE, type LoginLayer } from '../core/login-layer.ts'

/** Only `kind` can be seen of a layer. */
export function loginLayer(kind: LoginLayer['kind'], code: LoginCode): LoginLayer {
  return Object.freeze(Object.defineProperty({ kind }, LOGIN_CODE, { value: Object.freeze(code) }))
}
