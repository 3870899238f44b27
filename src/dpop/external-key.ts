/** A key that an HSM, a KMS or a smart card holds. */
export interface ExternalKey {
  /** The public key alone (RFC 7517; RFC 7518, section 6; RFC 8037). */
  readonly publicJwk: {
    readonly kty?: string | undefined
    readonly crv?: string | undefined
    readonly x?: string | undefined
    readonly y?: string | undefined
    readonly e?: string | undefined
    readonly n?: string | undefined
    /** Required for RSA only: `PS256` or `RS256`. */
    readonly alg?: string | undefined
  }
  /**
   * Returns the signature in the format of JWS (RFC 7518, section 3). For ECDSA that is r followed by s, not DER. If it rejects, callers get
   * `ERR_TOKEN_SOURCE`, and nothing is sent.
   */
  sign(data: Uint8Array): Promise<Uint8Array>
}
