import type { Clock } from './clock.ts'

/**
 * A key that proves possession of a token (DPoP, RFC 9449), created by `dpopKey` or `webKey` of `axios-evergreen/dpop`. Pass the same key to
 * `oauth2({ dpop })` and to `attachBearer(api, tokens, { dpop })`.
 */
export interface DPoPKey {
  /** The SHA-256 thumbprint of the public key, base64url (RFC 7638). Servers call it `jkt`. Not secret. Rejects if the public key cannot be read. */
  readonly thumbprint: Promise<string>
}

/** A key that can also create proofs for your own requests. */
export interface ProvingKey extends DPoPKey {
  /**
   * Creates a proof for a request of your own code, such as the exchange of an authorization code. `iat` is the time of this machine.
   *
   * @param request `token`: the access token in the request. `nonce`: the nonce that the server requires.
   * @returns The value of the header `DPoP`, valid for one request.
   * @throws {TypeError} Naming the member.
   * @throws {TokenError} `ERR_TOKEN_SOURCE` if the key fails to sign.
   */
  prove(request: {
    readonly method: string
    readonly url: string | URL
    readonly token?: string | undefined
    readonly nonce?: string | undefined
  }): Promise<string>
}

/** One request that needs a proof. */
export interface ProvedRequest {
  /** Exactly as sent: methods are case-sensitive (RFC 9110, section 9.1). */
  readonly method: string
  /** Absolute. */
  readonly url: URL
  /** The access token of the request. Absent: a token request. */
  readonly token?: string | undefined
  /** Used instead of the latest nonce of the origin. */
  readonly nonce?: string | undefined
}

export interface Proof {
  /** The value of the header `DPoP`, valid for one request. */
  readonly text: string
  /** The nonce in it. */
  readonly nonce: string | undefined
  /** How far its time is ahead of the monotonic clock, ms. */
  readonly leadMs: number
}

/** The parts of a response that matter for later proofs. Values that are not strings count as absent. */
export interface ProofResponse {
  readonly status: number
  /** `DPoP-Nonce` */
  readonly nonce: unknown
  /** `Date` */
  readonly date: unknown
  /** `Age`: the response comes from a cache, and its `Date` is old. */
  readonly age: unknown
  /** The server rejected the proof for a reason other than a missing nonce. */
  readonly isRejected?: boolean
}

/**
 * The port through which sources and attachments use a key. Only `axios-evergreen/dpop` implements it, so programs without that entry do not bundle
 * the implementation.
 */
export interface Proofs {
  /** Creates a proof. @throws {TokenError} `ERR_TOKEN_SOURCE` with outcome `not-sent` and refresh token `kept`, if the key fails to sign. */
  prove(request: ProvedRequest, clock: Clock): Promise<Proof>
  /** Keeps the nonce and the time of a response, whatever its status, for later proofs to the same origin. */
  learn(request: ProvedRequest, response: ProofResponse, clock: Clock): void
  /** Whether a new proof would have a different nonce or time, so that a server that rejected `proof` may accept it. */
  isOutdated(proof: Proof, request: ProvedRequest, clock: Clock): boolean
}

/** The part of a key for attachments: `prove` and `learn` for an API request as it is sent. */
export interface KeyProofs extends Proofs {
  proofFor(request: SentRequest & { readonly token: string }, clock: Clock): Promise<string>
  observe(request: SentRequest, response: ObservedResponse, clock: Clock): void
}

/** A request that an attachment sends. */
export interface SentRequest {
  readonly method: string
  readonly url: string
}

/** The parts of an API response that a key needs. */
export interface ObservedResponse {
  readonly status: number
  /** @param name In lower case. */
  readonly header: (name: string) => unknown
  /** The error codes of the challenges (`WWW-Authenticate`). */
  readonly errors: readonly string[]
}
