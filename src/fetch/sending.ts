import { isIdempotent } from '../client/bodies.ts'
import { type Grantee, maySeeRedirects } from '../client/client-port.ts'
import { answered, BearerRequest, failed, type RequestLimits } from '../client/course.ts'
import { promised } from '../client/promised.ts'
import type { SentRequest } from '../core/proofs.ts'
import { copyForCaller, isTokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import { headerIn, type Init, type Input, memberOfCall } from './call.ts'
import { type Call, copyOfInit, discard, isRepeatable, ownInput, setHeader, spareOf } from './own-call.ts'

type Fetch = (input: Input, init?: Init) => Promise<Response>

/** One request of a caller. */
export class FetchRequest extends BearerRequest<Response> implements Call {
  readonly #fetch: Fetch
  readonly #origin: string
  /** What is sent: the caller's own only if it leaves before the call returns. */
  input: Input
  readonly url: string
  init: Call['init']
  readonly signal: AbortSignal | undefined
  /** What a replay sends; undefined if the request must not be sent again. */
  #spare: Input | undefined

  constructor(fetch: Fetch, grantee: Grantee<Response>, origin: string, { input, url, init }: Call) {
    super(
      grantee,
      grantee.access.currentGeneration?.(),
      headerIn(input, init, 'dpop') === null ? grantee.prover : undefined,
    )
    this.#fetch = fetch
    this.#origin = origin
    this.input = input
    this.url = url
    this.init = init
    this.signal = memberOfCall(input, init, 'signal') ?? undefined
  }

  override hold(): void {
    this.input = ownInput(this)
  }

  limits(): RequestLimits {
    return { signal: this.signal, timeoutMs: Infinity }
  }

  place(): SentRequest {
    return { method: memberOfCall(this.input, this.init, 'method') ?? 'GET', url: this.url }
  }

  headerOf({ headers }: Response, name: string): unknown {
    // Some doubles of tests have no headers.
    return (headers as Headers | undefined)?.get(name)
  }

  hasLeft({ redirected, url }: Response): boolean {
    return redirected && parsedUrl(url)?.origin !== this.#origin
  }

  isRepeatable({ redirected }: Response): boolean {
    return this.#spare !== undefined && (!redirected || isIdempotent(this.place().method))
  }

  prepareAgain({ body }: Response): void {
    discard(body)
    this.input = this.#spare ?? this.input
    this.init = copyOfInit(this.init)
    // After a new proof another token may still follow; after a replay, only a new proof.
    if (!this.isReplay || this.grantee.prover) this.#spare = spareOf(this)
  }

  /** The copy of a Request shares its body with the one that was sent, and would keep all of it. */
  override finish(): void {
    if (typeof this.#spare === 'object' && this.#spare !== this.input) discard(this.#spare.body)
  }

  told(error: unknown): unknown {
    return ofCaller(error)
  }

  send(proof: string | undefined): Promise<Response> {
    if (isRepeatable(this)) this.#spare ??= spareOf(this)
    const { grantee, token, input, init } = this
    setHeader(this, grantee.header, grantee.text(token))
    if (proof !== undefined) {
      setHeader(this, 'DPoP', proof)
      // The one that the proof names, whatever stands on `Object.prototype`: fetch reads that, too.
      init.method = this.place().method
    }
    // Only `Authorization` is taken off a request that is redirected to another origin.
    if (!maySeeRedirects(grantee) && memberOfCall(input, init, 'redirect') !== 'error') init.redirect = 'manual'
    // Not as a method of this request: the fetch of a browser refuses to be one.
    const fetch = this.#fetch
    return promised(() => fetch(input, init)).then(
      (response) => answered(this, response),
      (error: unknown) => {
        failed(this, error)
        throw error
      },
    )
  }
}

const ofCaller = (error: unknown) => (isTokenError(error) ? copyForCaller(ofCaller, error) : error)
