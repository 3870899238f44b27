/** What an access token is for. At least one member. */
export interface ResourceOptions {
  /** An absolute URI without a fragment (RFC 8707), or a list of them. */
  resource?: string | readonly string[] | undefined
  /** For servers that expect `audience`. */
  audience?: string | undefined
  /** Sent with the exchange. Default: none, so the server chooses the scope for this resource. */
  scope?: string | undefined
}

/** The resource in events and `status()`. `toString()` returns its name, so that no other module has to build the name. */
export interface NamedResource {
  toString(): string
}
