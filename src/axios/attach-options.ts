import type { AxiosResponse } from 'axios'
import type { DPoPKey } from '../core/proofs.ts'

export interface AttachOptions {
  /**
   * Origins that may receive the token. Default: the origins of `instance.defaults.baseURL` and of the token source. In a browser a relative
   * `baseURL`, or none, means the origin of the page, whatever `<base href>` says.
   */
  origins?: readonly (string | URL)[] | undefined
  /** Default `Authorization`. With another header no redirect is followed: axios strips only `Authorization` across origins. */
  header?: string | undefined
  /** Word before the token. Default `Bearer`; an empty string sends the bare token. */
  scheme?: string | undefined
  /**
   * Says whether a response refuses the token. Its `data` is not yet transformed. Default: status 401. A response whose `WWW-Authenticate` says
   * that no other token would help (`insufficient_scope`, `insufficient_user_authentication`) renews nothing all the same.
   */
  refuses?: ((response: AxiosResponse) => boolean) | undefined
  /** Send tokens over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
  /**
   * A key of `axios-evergreen/dpop`, or a promise of one, the same that the source has: each request gets a proof (RFC 9449), and no redirect is followed. Not with `scheme`, and
   * not with the xhr adapter.
   */
  dpop?: DPoPKey | Promise<DPoPKey> | undefined
}
