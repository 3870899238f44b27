import { LOGIN_CODE, type LoginLayer } from './login-layer.ts'
import type { Rules } from './situation.ts'

/** The code that a layer brings. Core knows its shape only. */
export interface LoginCode {
  readonly rules: Rules
}

export function codeOf(layer: LoginLayer): LoginCode {
  return Reflect.get(layer, LOGIN_CODE) as LoginCode
}
