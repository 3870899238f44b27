import type { Clock } from './clock.ts'
import { member } from './thrown.ts'

/**
 * A key that proves who sends a token (DPoP, RFC 9449), made by `dpopKey` or `webKey` of `axios-evergreen/dpop`. Give the same one to
 * `oauth2({ dpop })` and to `attachBearer(api, tokens, { dpop })`.
 */
export interface DPoPKey {
  /** SHA-256 of the public key, base64url (RFC 7638). Servers call it `jkt`. It is no secret. Rejects if the public key cannot be read. */
  readonly thumbprint: Promise<string>
}

/** A key that also makes proofs for requests of your own. */
export interface ProvingKey extends DPoPKey {
  /**
   * Makes a proof for a request that your own code sends, such as the one that redeems the code of a login. It has the time of this machine.
   *
   * @param request `token`: the access token that it carries. `nonce`: the one that the server demands.
   * @returns The text of the header `DPoP`. It serves one request.
   * @throws {TypeError} naming the member.
   * @throws {TokenError} `ERR_TOKEN_SOURCE` if the key does not sign.
   */
  prove(request: DPoPRequest): Promise<string>
}

/** A request that your own code sends. */
export interface DPoPRequest {
  readonly method: string
  readonly url: string | URL
  readonly token?: string | undefined
  readonly nonce?: string | undefined
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
export interface ProofAnswer {
  readonly status: number
  /** `DPoP-Nonce` */
  readonly nonce: unknown
  /** `Date` */
  readonly date: unknown
  /** `Age`: the answer comes from a cache, and its `Date` is old. */
  readonly age: unknown
  /** The server refuses the proof, and does not only ask for a nonce. */
  readonly isRefused?: boolean
}

/**
 * What sources and attachments need of a key. Only `axios-evergreen/dpop` implements it: a program without that entry carries no more than
 * this port.
 */
export interface Proofs {
  /** @throws {TokenError} `ERR_TOKEN_SOURCE` with outcome `not-sent` and refresh token `kept`: the key does not sign. */
  prove(request: ProvedRequest, clock: Clock): Promise<Proof>
  /** Keeps the nonce and the time of the answer, whatever its status, for later proofs to the same origin. */
  learn(request: ProvedRequest, answer: ProofAnswer, clock: Clock): void
  /** Whether a proof made now would have another nonce or another time: a server that refused `proof` may accept a new one. */
  isOutdated(proof: Proof, request: ProvedRequest, clock: Clock): boolean
}

/** All copies of the package in one process share this symbol. */
export const PROOFS = Symbol.for('axios-evergreen.proofs')

/** What the option `dpop` takes. */
export type GivenKey = DPoPKey | Promise<DPoPKey>

/** @throws {TypeError} naming the option, and nothing of its value, unless `given` is a key of `axios-evergreen/dpop`, or a promise. */
export function checkKey(name: string, given: GivenKey): void {
  if (!isPromised(given)) proofsOf(name, given)
}

export function isPromised(given: GivenKey): given is Promise<DPoPKey> {
  return typeof member(given, 'then') === 'function'
}

/**
 * The `boundTo` of a source has, under this symbol, the check of the `dpop` of its attachments, if it is the thumbprint of a key of
 * `axios-evergreen/dpop`: a function that throws a TypeError. All copies of the package in one process share it.
 */
export const CHECK = Symbol.for('axios-evergreen.checkKey')

/** @throws {TypeError} if the tokens of a source, bound to `boundTo`, are of no use with this key, or without one. */
export function checkFit(boundTo: unknown, given: GivenKey | undefined): void {
  const check = member(boundTo, CHECK) as ((given: GivenKey | undefined) => void) | undefined
  check?.(given)
}

/** @throws {TypeError} naming the option, and nothing of its value, unless `key` is a key of `axios-evergreen/dpop`. */
export function proofsOf(name: string, key: DPoPKey): Proofs {
  const proofs = member(key, PROOFS)
  if (proofs !== undefined) return proofs as Proofs
  throw new TypeError(`${name} must be a key of axios-evergreen/dpop: pass dpopKey(keyPair), or await webKey()`)
}

/** Whether a server refuses the proof, and not the token (RFC 9449, sections 7.1, 8 and 9). `error`: the error code of its answer. */
export function isProofRefused(error: string | undefined): boolean {
  return error === 'use_dpop_nonce' || error === 'invalid_dpop_proof'
}
