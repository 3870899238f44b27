import type { DPoPKey } from '../core/proofs.ts'
import type { TokenServiceOptions } from '../wire/token-call.ts'

/** The meaning of an error response. */
export type ErrorMeaning =
  | 'invalid_grant'
  | 'invalid_client'
  | 'interaction_required'
  | 'temporarily_unavailable'
  | 'slow_down'
  | 'invalid_request'

export interface OAuth2Options {
  /**
   * The token endpoint: `token_endpoint` in the metadata of the server (RFC 8414). Default: the endpoint in the metadata of `issuer`. A query is kept.
   */
  tokenEndpoint?: string | URL | undefined
  /**
   * The issuer identifier. Without `tokenEndpoint` the source reads its endpoints from the metadata of the issuer (RFC 8414, OpenID Connect Discovery),
   * which must name the same issuer. The source fetches the metadata at the first exchange, and again after a day. A `clientAuthentication` function receives
   * the issuer as the audience of a signed assertion; default `tokenEndpoint`.
   */
  issuer?: string | URL | undefined
  /** Where `logout()` of the manager revokes the tokens (RFC 7009). Default with discovery: `revocation_endpoint` of the metadata. */
  revocationEndpoint?: string | URL | undefined
  /** How a token request encodes its parameters: `form` (default, RFC 6749), or `json`: a JSON object, for servers that require that. */
  body?: 'form' | 'json' | undefined
  clientId: string
  /** The secret, or a function that returns it. The function is called at each exchange and may read a secret manager. */
  clientSecret?: string | (() => string | Promise<string>) | undefined
  /**
   * `basic` (default), `post`, `none` (a public client, or one with a client certificate in `transport`; default if there is no `clientSecret` and `grant` is
   * not `client_credentials`), or a function that adds the proof to the body or the headers, such as `PrivateKeyJwt(key)` of oauth4webapi.
   */
  clientAuthentication?:
    | 'basic'
    | 'post'
    | 'none'
    | ((
        as: { issuer: string },
        client: { client_id: string },
        body: URLSearchParams,
        headers: Headers,
      ) => void | Promise<void>)
    | undefined
  /**
   * `client_credentials` (default), or `login`: a user logs in elsewhere, and your code passes the tokens to `adopt()`. Without
   * a refresh token the manager then rejects with `ERR_LOGIN_REQUIRED`. Or a function that is called at each exchange and returns the parameters of any
   * other grant, including `grant_type`: a signed assertion (RFC 7523), a token exchange (RFC 8693).
   */
  grant?:
    | 'client_credentials'
    | 'login'
    | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
    | undefined
  /**
   * What error codes of the server mean, if that differs from the RFCs, or if this package does not know them:
   * `{ unauthorized_client: 'invalid_grant' }`. An error code is the `error` of a response, or its `error_subtype`, `suberror`, `error_code`, `errorType`,
   * `code`, `type` or `status`. Or a function of the whole response: its `status`, and the `members` of its JSON object. The function is called first, and
   * decides for any status; `undefined` leaves the decision to the built-in table. If it throws or returns another value, that counts as `undefined`, and is
   * reported as the anomaly `unexpected-response`.
   */
  errors?:
    | Readonly<Record<string, ErrorMeaning>>
    | ((response: {
        readonly status: number
        readonly members: Readonly<Record<string, unknown>>
      }) => ErrorMeaning | undefined)
    | undefined
  /**
   * Called with the members of each accepted response, such as `id_token` or `instance_url`, before its tokens are used. The members include the tokens.
   * Exceptions that the function throws are ignored.
   */
  onAnswer?: ((members: Readonly<Record<string, unknown>>) => void) | undefined
  /**
   * A key of `axios-evergreen/dpop`, or a promise of one: the server binds the tokens to it (RFC 9449). Pass the same one to `attachBearer` or `withBearer`.
   * Managers with different keys do not share a record of a store.
   */
  dpop?: DPoPKey | Promise<DPoPKey> | undefined
  /** The scope tokens, separated by spaces or as a list. Sent with every exchange. Once the server has rejected `scope` in a refresh (`invalid_scope`), refreshes omit it. */
  scope?: string | readonly string[] | undefined
  /** Further parameters of every token request: `audience`, `resource`, … */
  parameters?: Readonly<Record<string, string>> | undefined
  /**
   * What the server does with a used refresh token. `single-use` (default): the server rejects it from then on. `reusable`:
   * the server still accepts it, and a response without a refresh token keeps it. If this option is absent, the source drops
   * refresh tokens of client credentials (RFC 6749, section 4.4.3).
   */
  refreshTokens?: 'single-use' | 'reusable' | undefined
  /** How long the server accepts a refresh token after its first use, ms, according to its documentation. Default 0. */
  reuseGraceMs?: number | undefined
  /** The lifetime of an access token, ms, if the response has no `expires_in`, which RFC 6749 only recommends. Default 300 000. */
  defaultLifetimeMs?: number | undefined
  /** Names the account; default `clientId`. Each login needs its own name: logins with the same name share one record of a store. */
  account?: string | undefined
  /** Transport settings for token requests only: proxy, agents, adapter, extra headers. Read once. */
  transport?: TokenServiceOptions['transport']
  /** Send credentials over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
}
