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

/** More links would tell nothing new, and cost the exporter. */
const MOST_LINKS = 32

interface Settings {
  readonly tracer: Tracer | undefined
  readonly attributes: Attributes
  /** Of the token service. */
  readonly origin: string | undefined
  readonly measurements: Measurements | undefined
  readonly monotonicNow: () => number
}

/** Counts token calls and the waiting of callers, and makes a span of each call. A failure of telemetry must cost nobody a token. */
export class TokenCalls implements Watcher {
  readonly #settings: Settings
  /** Spans of the requests that wait, by span id. */
  readonly #waiting = new Map<string, SpanContext>()
  /** The span of the call in flight. */
  #span: Span | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async call<Result>(exchange: Exchange, attempt: number, run: () => Promise<Result>): Promise<Result> {
    const span = quietly(() => this.#startSpan(exchange, attempt))
    this.#span = span
    // Spans that the token call starts, such as one of HTTP, become children of its span.
    let running: Promise<Result> | undefined
    const once = () => (running ??= run())
    if (span) void quietly(() => context.with(trace.setSpan(context.active(), span), once))
    try {
      const result = await once()
      this.#ended(span, { 'evergreen.exchange': exchange, 'evergreen.outcome': 'accepted' })
      return result
    } catch (thrown) {
      // An exchange rejects with nothing else.
      const error = thrown as TokenError
      const attributes = {
        'evergreen.exchange': exchange,
        'evergreen.outcome': outcomeOf(error),
        'error.type': error.code,
      }
      this.#ended(span, attributes, error.status, error.message)
      throw thrown
    } finally {
      this.#span = undefined
    }
  }

  wait(token: Promise<string>, because?: RenewalCause): void {
    const { monotonicNow, measurements } = this.#settings
    const startedAt = monotonicNow()
    const asking = quietly(() => this.#linkActive())
    const end = (errorType?: string) => {
      if (asking) this.#waiting.delete(asking)
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
    // `renew()` is no request: while the old token lives, its failure costs nobody anything.
    if (because !== 'forced') quietly(() => this.#settings.measurements?.failed(code))
  }

  #startSpan(exchange: Exchange, attempt: number): Span | undefined {
    const { tracer, attributes, origin } = this.#settings
    return tracer?.startSpan(`token ${exchange}`, {
      kind: SpanKind.INTERNAL,
      // A root, because the call belongs to all who wait, and may outlive each of them.
      root: true,
      attributes: { ...attributes, ...addressOf(origin), 'evergreen.exchange': exchange, 'evergreen.attempt': attempt },
      links: Array.from(this.#waiting.values(), (linked) => ({ context: linked })),
    })
  }

  /** Links the span of the request that asks. @returns The id of that span, if it was linked. */
  #linkActive(): string | undefined {
    const linked = this.#settings.tracer && trace.getActiveSpan()?.spanContext()
    if (!linked || this.#waiting.size >= MOST_LINKS || this.#waiting.has(linked.spanId)) return undefined
    this.#waiting.set(linked.spanId, linked)
    this.#span?.addLink({ context: linked })
    return linked.spanId
  }

  #ended(span: Span | undefined, attributes: Attributes, status?: number, message?: string): void {
    quietly(() => this.#settings.measurements?.called(attributes))
    quietly(() => {
      span?.setAttributes({ ...attributes, ...(status !== undefined && { 'http.response.status_code': status }) })
      // Messages of a TokenError hold no secret.
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
