import {
  type Attributes,
  context,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { isTokenError, outcomeOf, type TokenError } from '../core/errors.ts'
import type { RenewalCause, Watcher } from '../core/events.ts'
import { quietly } from '../core/thrown.ts'
import type { Exchange } from '../core/token-source.ts'
import type { Measurements } from './measurements.ts'

/** More links would add load to the exporter, and no information. */
const MAX_LINKS = 32

interface Settings {
  readonly tracer: Tracer | undefined
  readonly attributes: Attributes
  /** The origin of the token service. */
  readonly origin: string | undefined
  readonly measurements: Measurements | undefined
  readonly monotonicNow: () => number
}

/** Counts token requests and the waits of callers, and creates a span for each token request. Errors of telemetry must not affect callers. */
export class TokenRequests implements Watcher {
  readonly #settings: Settings
  /** Spans of the waiting requests, by span id. */
  readonly #waiting = new Map<string, SpanContext>()
  /** The span of the token request in flight. */
  #span: Span | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async call<Result>(exchange: Exchange, attempt: number, run: () => Promise<Result>): Promise<Result> {
    const span = quietly(() => this.#startSpan(exchange, attempt))
    this.#span = span
    // Spans that start within the token request, such as those of HTTP, become its children.
    let running: Promise<Result> | undefined
    const once = () => (running ??= run())
    if (span) void quietly(() => context.with(trace.setSpan(context.active(), span), once))
    try {
      const result = await once()
      this.#endSpan(span, { 'evergreen.exchange': exchange, 'evergreen.outcome': 'accepted' })
      return result
    } catch (thrown) {
      // An exchange rejects with a TokenError only.
      const error = thrown as TokenError
      const attributes = {
        'evergreen.exchange': exchange,
        'evergreen.outcome': outcomeOf(error),
        'error.type': error.code,
      }
      this.#endSpan(span, attributes, error.status, error.message)
      throw thrown
    } finally {
      this.#span = undefined
    }
  }

  wait(token: Promise<string>, because?: RenewalCause): void {
    const { monotonicNow, measurements } = this.#settings
    const startedAt = monotonicNow()
    const linkedSpan = quietly(() => this.#linkActive())
    const end = (errorType?: string) => {
      if (linkedSpan) this.#waiting.delete(linkedSpan)
      quietly(() => measurements?.waited(monotonicNow() - startedAt, errorType))
    }
    void token.then(
      () => end(),
      (error: unknown) => {
        end(isTokenError(error) ? error.code : 'aborted')
        if (isTokenError(error)) this.refused(error, because)
      },
    )
  }

  refused({ code }: TokenError, because?: RenewalCause): void {
    // A failed `renew()` does not count as a failed request.
    if (because !== 'forced') quietly(() => this.#settings.measurements?.failed(code))
  }

  #startSpan(exchange: Exchange, attempt: number): Span | undefined {
    const { tracer, attributes, origin } = this.#settings
    return tracer?.startSpan(`token ${exchange}`, {
      kind: SpanKind.INTERNAL,
      // A root, because the token request serves all waiting callers, and may outlive each of them.
      root: true,
      attributes: { ...attributes, ...addressOf(origin), 'evergreen.exchange': exchange, 'evergreen.attempt': attempt },
      links: Array.from(this.#waiting.values(), (linked) => ({ context: linked })),
    })
  }

  /** Links the span of the calling request. @returns The id of that span, if it was linked. */
  #linkActive(): string | undefined {
    const linked = this.#settings.tracer && trace.getActiveSpan()?.spanContext()
    if (!linked || this.#waiting.size >= MAX_LINKS || this.#waiting.has(linked.spanId)) return undefined
    this.#waiting.set(linked.spanId, linked)
    this.#span?.addLink({ context: linked })
    return linked.spanId
  }

  #endSpan(span: Span | undefined, attributes: Attributes, status?: number, message?: string): void {
    quietly(() => this.#settings.measurements?.called(attributes))
    quietly(() => {
      span?.setAttributes({ ...attributes, ...(status !== undefined && { 'http.response.status_code': status }) })
      // The message of a TokenError contains no secret.
      if (message !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR, message })
      span?.end()
    })
  }
}

function addressOf(origin: string | undefined): Attributes {
  if (origin === undefined) return {}
  const { hostname, port, protocol } = new URL(origin)
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) }
}
