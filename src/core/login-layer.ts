import { member } from './thrown.ts'

/** The login behaviour of a source whose users log in: `person` or `session` of `axios-evergreen/login`. Opaque. */
export interface LoginLayer {
  /** `person`: only a user can obtain tokens. `session`: the user has a session, such as a cookie, and `obtain` requests a token with it. */
  readonly kind: 'person' | 'session'
}

/**
 * The key of a layer's code. All copies of the package share this symbol: the source may come from the ES module, and the manager from the CommonJS one.
 * Copies whose `LoginCode` differs must not share it, hence its number.
 */
export const LOGIN_CODE = Symbol.for('axios-evergreen.LoginLayer.1')

export function isLoginLayer(given: unknown): given is LoginLayer {
  return member(given, LOGIN_CODE) !== undefined
}
