import { member } from './thrown.ts'

/** What a source of people's logins brings along: `person` or `session` of `axios-evergreen/login`. Opaque. */
export interface LoginLayer {
  /** `person`: only a person can obtain tokens. `session`: a person has begun a session, such as a cookie, and `obtain` asks it for a token. */
  readonly kind: 'person' | 'session'
}

/**
 * The code of a layer stands under this symbol, which all copies of the package share: the source may come from the ES module, and the manager from the CommonJS
 * one. Copies whose `LoginCode` differs must not share it, hence its number.
 */
export const LOGIN_CODE = Symbol.for('axios-evergreen.LoginLayer.1')

export function isLoginLayer(given: unknown): given is LoginLayer {
  return member(given, LOGIN_CODE) !== undefined
}
