import type { Clock } from './clock.ts'

/**
 * A key that proves possession of a token (DPoP, RFC 9449), made by `dpopKey` or `webKey` of `axios-evergreen/dpop`. Pass the same one to
 * `oauth2({ dpop })` and to `attachBearer(api, tokens, { dpop })`.
 */
export interface DPoPKey {
  /** SHA-256 of the public key, base64url (RFC 7638). Servers call it `jkt`. It is not secret. Rejects if the public key cannot be read. */
  readonly thumbprint: Promise<string>
}

/** A key that also makes proofs for requests of your own. */
export interface ProvingKey extends DPoPKey {
  /**
   * Makes a proof for a request of your own code, such as the one that exchanges the authorization code. `iat` is the time of this machine.
   *
   * @param request `token`: the access token in the request. `nonce`: the nonce that the server requires.
   * @returns The value of the header `DPoP`, valid for one request.
   * @throws {TypeError} naming the member.
   * @throws {TokenError} `ERR_TOKEN_SOURCE` if the key does not sign.
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
  /** As it is sent: methods are case-sensitive (RFC 9110, section 9.1). */
  readonly method: string
  /** Absolute. */
  readonly url: URL
  /** The access token that the request carries. Absent: the request is a token call. */
  readonly token?: string | undefined
  /** In the place of the latest one of its origin. */
  readonly nonce?: string | undefined
}

export interface Proof {
  /** The text of the header `DPoP`. It serves one request. */
  readonly text: string
  /** The nonce in it. */
  readonly nonce: string | undefined
  /** How far the time in it is ahead of the monotonic clock, ms. */
  readonly leadMs: number
}

/** What an answer says about later proofs. A value that is no text counts as absent. */
export interface ProofResponse {
  readonly status: number
  /** `DPoP-Nonce` */
  readonly nonce: unknown
  /** `Date` */
  readonly date: unknown
  /** `Age`: the answer comes from a cache, and its `Date` is old. */
  readonly age: unknown
  /** The server refuses the proof, and does not only ask for a nonce. */
  readonly isRejected?: boolean
}

/**
 * What sources and attachments need of a key. Only `axios-evergreen/dpop` implements it: a program without that entry carries no more than
 * this port.
 */
export interface Proofs {
  /** @throws {TokenError} `ERR_TOKEN_SOURCE` with outcome `not-sent` and refresh token `kept`: the key does not sign. */
  prove(request: ProvedRequest, clock: Clock): Promise<Proof>
  /** Keeps the nonce and the time of the answer, whatever its status, for later proofs to the same origin. */
  learn(request: ProvedRequest, answer: ProofResponse, clock: Clock): void
  /** Whether a proof made now would have another nonce or another time: a server that refused `proof` may accept a new one. */
  isOutdated(proof: Proof, request: ProvedRequest, clock: Clock): boolean
}

/** What a key has for attachments: `prove` and `learn` for a request to an API, as it is sent. */
export interface KeyProofs extends Proofs {
  proofFor(request: SentRequest & { readonly token: string }, clock: Clock): Promise<string>
  hear(request: SentRequest, answer: HeardAnswer, clock: Clock): void
}

/** A request that an attachment sends. */
export interface SentRequest {
  readonly method: string
  readonly url: string
}

export interface HeardAnswer {
  readonly status: number
  /** @param name In lower case. */
  readonly header: (name: string) => unknown
  /** The error codes of its challenges. */
  readonly errors: readonly string[]
}

/** Whether a server refuses the proof, and not the token (RFC 9449, sections 7.1, 8 and 9). `error`: the error code of its answer. */
export function isProofRejected(error: string | undefined): boolean {
  return error === 'use_dpop_nonce' || error === 'invalid_dpop_proof'
}
