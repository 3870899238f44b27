import type { DPoPKey } from '../core/proofs.ts'
import type { TokenServiceOptions } from '../wire/token-call.ts'

/** What an error of a server means. */
export type ErrorMeaning =
  | 'invalid_grant'
  | 'invalid_client'
  | 'interaction_required'
  | 'temporarily_unavailable'
  | 'slow_down'
  | 'invalid_request'

export interface OAuth2Options {
  /**
   * Address of the token endpoint: `token_endpoint` in the metadata of the server (RFC 8414). A query is kept. Without it the source asks the metadata
   * of `issuer` for it.
   */
  tokenEndpoint?: string | URL | undefined
  /**
   * Names the server. Without `tokenEndpoint` the source finds its endpoints in the metadata of the issuer (RFC 8414, OpenID Connect Discovery),
   * which must name the very same issuer. The source asks at the first exchange, and again after a day. A `clientAuthentication` function gets the issuer,
   * which it makes the audience of a signed assertion; default `tokenEndpoint`.
   */
  issuer?: string | URL | undefined
  /** Where `logout()` of the manager revokes the tokens (RFC 7009). Default with discovery: `revocation_endpoint` of the metadata. */
  revocationEndpoint?: string | URL | undefined
  /** How the parameters of a token call are written: `form` (default, RFC 6749), or `json`: members of a JSON object, for servers that want that. */
  body?: 'form' | 'json' | undefined
  clientId: string
  /** The secret, or a function that returns it and is called at each exchange, e.g. one that asks a secret manager. */
  clientSecret?: string | (() => string | Promise<string>) | undefined
  /**
   * `basic` (default), `post`, `none` (a public client, default without a secret unless `grant` is `client_credentials`; or a client certificate in
   * `transport`), or a function that adds the proof to the body or the headers, such as `PrivateKeyJwt(key)` of oauth4webapi.
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
   * `client_credentials` (default), or `login`: a person logs in elsewhere, and your code passes the tokens to `adopt()`. Without
   * a refresh token the manager then rejects with `ERR_LOGIN_REQUIRED`. Or a function that returns the parameters of any other grant, `grant_type` among
   * them, and is called at each exchange: a signed assertion (RFC 7523), a token exchange (RFC 8693).
   */
  grant?:
    | 'client_credentials'
    | 'login'
    | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
    | undefined
  /**
   * What the error words of the server mean, if they mean something else there than in the RFCs, or if this package does not know them:
   * `{ unauthorized_client: 'invalid_grant' }`. A word is the `error` of an answer, or its `error_code`, `code`, `type`, `errorType` or `status`. Or a
   * function of the whole answer, its `status` and the `members` of its JSON object, which is asked before the built-in table, and decides under any
   * status; `undefined`: it does not know. If it throws, or gives another word, that counts as `undefined`, and the anomaly `unexpected-response` says so.
   */
  errors?:
    | Readonly<Record<string, ErrorMeaning>>
    | ((response: {
        readonly status: number
        readonly members: Readonly<Record<string, unknown>>
      }) => ErrorMeaning | undefined)
    | undefined
  /**
   * Called with the members of each answer that is accepted, before its tokens are used: `id_token`, `instance_url`. They hold the tokens. What the function
   * throws reaches nobody.
   */
  onAnswer?: ((members: Readonly<Record<string, unknown>>) => void) | undefined
  /**
   * A key of `axios-evergreen/dpop`, or a promise of one: the server binds the tokens to it (RFC 9449). Give the same one to the attachment. Owners with other keys do not
   * share a record of a store.
   */
  dpop?: DPoPKey | Promise<DPoPKey> | undefined
  /** The words of the scope, separated by spaces or as a list. Sent with every exchange, until the server refuses it at a refresh (`invalid_scope`). */
  scope?: string | readonly string[] | undefined
  /** Further parameters of every token call: `audience`, `resource`, … */
  parameters?: Readonly<Record<string, string>> | undefined
  /**
   * What the server does with a refresh token that was used. `single-use` (default): the server rejects it from then on. `reusable`:
   * the server still accepts it, also after an answer without a refresh token. Unless this option is given, the source drops a
   * refresh token that comes with client credentials (RFC 6749, section 4.4.3).
   */
  refreshTokens?: 'single-use' | 'reusable' | undefined
  /** How long the server accepts a refresh token after its first use, ms, if the server documents that. Default 0. */
  reuseGraceMs?: number | undefined
  /** Lifetime of an access token, ms, where the answer has no `expires_in` (RFC 6749 only recommends it). Default 300 000. */
  defaultLifetimeMs?: number | undefined
  /** Names the account; default `clientId`. Give each login its own name: logins with the same name share one record of a store. */
  account?: string | undefined
  /** Transport settings for token calls only: proxy, agents, adapter, extra headers. Read once. */
  transport?: TokenServiceOptions['transport']
  /** Send credentials over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
}
