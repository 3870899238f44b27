import { isIdempotent } from '../client/bodies.ts'
import { type OriginBinding, mayFollowRedirects } from '../client/origin-binding.ts'
import { received, BearerRequest, failed, type RequestLimits } from '../client/bearer-request.ts'
import { promised } from '../client/promised.ts'
import type { SentRequest } from '../core/proofs.ts'
import { LONGEST_TIMER_MS } from '../core/clock.ts'
import { withinLimit } from '../core/deadline.ts'
import { copyForCaller, isTokenError, TokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import { isPromise } from '../core/thrown.ts'
import { headerIn, type Init, type Input, memberOfCall } from './call.ts'
import {
  type CallSnapshot,
  copyOfInit,
  discard,
  isRepeatable,
  ownInput,
  setHeader,
  replayInputOf,
} from './call-snapshot.ts'

type Fetch = (input: Input, init?: Init) => Promise<Response>

/** One request of a caller with a token. */
export class FetchRequest extends BearerRequest<Response> implements CallSnapshot {
  readonly #fetch: Fetch
  readonly #origin: string
  /** The input to send: the caller's own only if the request is sent synchronously. */
  input: Input
  readonly url: string
  init: CallSnapshot['init']
  readonly signal: AbortSignal | undefined
  /** The input of a replay; undefined if the request must not be sent again. */
  #replayInput: Input | undefined

  constructor(fetch: Fetch, binding: OriginBinding<Response>, origin: string, { input, url, init }: CallSnapshot) {
    super(
      binding,
      binding.access.currentGeneration?.(),
      headerIn(input, init, 'dpop') === null ? binding.prover : undefined,
    )
    this.#fetch = fetch
    this.#origin = origin
    this.input = input
    this.url = url
    this.init = init
    this.signal = memberOfCall(input, init, 'signal') ?? undefined
  }

  override detachFromCaller(): void {
    this.input = ownInput(this)
  }

  limits(): RequestLimits {
    return { signal: this.signal, timeoutMs: Infinity }
  }

  target(): SentRequest {
    return { method: memberOfCall(this.input, this.init, 'method') ?? 'GET', url: this.url }
  }

  headerOf({ headers }: Response, name: string): unknown {
    // Some test doubles have no headers.
    return (headers as Headers | undefined)?.get(name)
  }

  /** If `refuses` returns a promise, an abort by the caller ends the wait for it. */
  override rejects(response: Response): boolean | Promise<boolean> {
    const { binding, signal } = this
    const verdict = binding.refuses(response)
    if (!isPromise(verdict)) return verdict
    const atLimit = () => new TokenError('ERR_WAIT_TIMEOUT', 'The promise of refuses never settled')
    const limit = { clock: binding.access.clock, ms: LONGEST_TIMER_MS, signal, atLimit }
    return withinLimit(Promise.resolve(verdict), limit)
  }

  hasLeftOrigin({ redirected, url }: Response): boolean {
    return redirected && parsedUrl(url)?.origin !== this.#origin
  }

  isRepeatable({ redirected }: Response): boolean {
    return this.#replayInput !== undefined && (!redirected || isIdempotent(this.target().method))
  }

  prepareReplay({ body }: Response): void {
    discard(body)
    this.input = this.#replayInput ?? this.input
    this.init = copyOfInit(this.init)
    // A replay may follow a new proof. After a replay, only a new proof, or a login (`beforeSurface`), leads to another attempt.
    if (!this.isReplay || this.binding.prover || this.beforeSurface) this.#replayInput = replayInputOf(this)
  }

  /** Discards the input of a replay: the copy of a Request shares its body with the original, and would keep all of it in memory. */
  override finish(): void {
    if (typeof this.#replayInput === 'object' && this.#replayInput !== this.input) discard(this.#replayInput.body)
  }

  errorForCaller(error: unknown): unknown {
    return forCaller(error)
  }

  applyToken(): void {
    const { binding, token } = this
    setHeader(this, binding.header, binding.text(token))
  }

  send(proof: string | undefined): Promise<Response> {
    if (isRepeatable(this)) this.#replayInput ??= replayInputOf(this)
    const { binding, input, init } = this
    this.applyToken()
    if (proof !== undefined) {
      setHeader(this, 'DPoP', proof)
      // Set to the method in the proof, because fetch also reads members of `Object.prototype`.
      init.method = this.target().method
    }
    // Across origins, fetch strips only `Authorization`.
    if (!mayFollowRedirects(binding) && memberOfCall(input, init, 'redirect') !== 'error') init.redirect = 'manual'
    // Not called as a method of this request, because the fetch of a browser must not be called as a method.
    const fetch = this.#fetch
    return promised(() => fetch(input, init)).then(
      (response) => received(this, response),
      (error: unknown) => {
        failed(this, error)
        throw error
      },
    )
  }
}

const forCaller = (error: unknown) => (isTokenError(error) ? copyForCaller(forCaller, error) : error)
