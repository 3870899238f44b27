import type { TokenError, TokenErrorCode } from '../../src/index.ts'
import type { Proxy } from '../../src/wire/proxy.ts'
import { isPage, protocolOf } from './protocol.ts'
import type { Seen } from './recorder.ts'

/** Where a step failed. */
export interface Scene {
  /** The response, if there was one. */
  readonly response: Seen | undefined
  readonly proxy: Proxy | undefined
  readonly isOAuth: boolean
  /** As in `Problem`. */
  readonly isReachable: boolean
}

/** @returns Advice beyond the message of the error. */
export function adviceOn(
  { code, message, retryAfterMs, serviceCode }: TokenError,
  { response, proxy, isOAuth, isReachable }: Scene,
): string[] {
  const advice: string[] = []
  if (response && isPage(response))
    return [
      'The response is a web page. The address may belong to a web site, or a proxy or a login page responds instead.',
    ]
  if (!isOAuth && response && protocolOf(response) === 'oauth2')
    return [
      'The service speaks OAuth 2.0: use oauth2({ tokenEndpoint, … }) of axios-evergreen/oauth2, and give --token-endpoint or --issuer to the doctor.',
    ]
  if (code === 'ERR_THROTTLED') {
    const pause = retryAfterMs === undefined ? 'a minute' : `${Math.ceil(retryAfterMs / 1_000)} s`
    advice.push(`Wait ${pause}, and do not run the doctor in a loop: it makes up to three token requests.`)
  }
  // A host with an invalid certificate has responded, and the message says what to do.
  const hasResponded = isReachable || /the certificate is (for another host|not valid now)/.test(message)
  if (code === 'ERR_TOKEN_SERVICE_UNAVAILABLE' && !hasResponded)
    advice.push(
      response
        ? 'The service at this address fails: try again later.'
        : proxy
          ? `The call went to the proxy that ${proxy.setBy} names, and not to the service.`
          : message.includes('no complete ')
            ? 'There was no response in time: the service may be overloaded, or a firewall drops the request. Check the host and the port, and try again later.'
            : 'There was no response. Check the host, the port, and the network path (firewall, VPN). No HTTPS_PROXY, HTTP_PROXY or ALL_PROXY was used.',
    )
  const known = isOAuth ? ADVICE_ON_CODE[serviceCode ?? ''] : ADVICE[code]
  return known === undefined ? advice : [...advice, known]
}

const ADVICE: Readonly<Partial<Record<TokenErrorCode, string>>> = {
  ERR_CREDENTIALS_REJECTED:
    'Compare the environment variables with your credentials. They may belong to another account. If they are right, the path of the base URL may belong to another service.',
  ERR_SIGNATURE:
    'Check the password. If it is right, a proxy changes the responses, or the service signs differently: see docs/token-service.md.',
  ERR_REFRESH_REJECTED:
    'The service rejects a refresh token that it has just issued. Run the doctor once more. If it repeats, send this report to the operator of the service.',
}

/** Advice for the error codes of RFC 6749 (section 5.2), RFC 8707 and RFC 9449. */
const ADVICE_ON_CODE: Readonly<Record<string, string | undefined>> = {
  invalid_client:
    'Compare the environment variables with the client of this server. They may belong to the client of another environment.',
  invalid_scope:
    'Compare --scope with the scopes that the server allows this client. Some servers reject every scope, others require one such as …/.default.',
  invalid_target: 'Name the API as the server does: --parameter resource=… or --parameter audience=….',
  unauthorized_client: 'The server does not allow this grant to this client: allow client credentials in its settings.',
  unsupported_grant_type: 'The server does not support client credentials: let a user log in, and pass --grant login.',
  invalid_request:
    'A parameter is missing, such as --scope or --parameter audience=…, or the server expects another clientAuthentication.',
  invalid_dpop_proof:
    'The server binds tokens to a key (RFC 9449), which the doctor does not have: pass dpop to oauth2().',
  use_dpop_nonce: 'The server binds tokens to a key (RFC 9449), which the doctor does not have: pass dpop to oauth2().',
}
