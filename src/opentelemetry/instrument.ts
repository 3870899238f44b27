import type { Attributes, Meter, Tracer } from '@opentelemetry/api'
import { internalsOf } from '../core/manager-internals.ts'
import { asGiven, checkFunction, checkObject, readOptions } from '../core/option-checks.ts'
import type { NamedResource } from '../core/resource.ts'
import { member } from '../core/thrown.ts'
import type { TokenManager } from '../core/token-manager.ts'
import { Measurements } from './measurements.ts'
import { TokenRequests } from './token-requests.ts'

export interface InstrumentOptions {
  /** Where the metrics go, such as `metrics.getMeter('payments')`. */
  meter?: Meter | undefined
  /** Creates the spans of token requests, such as `trace.getTracer('payments')`. */
  tracer?: Tracer | undefined
  /** Added to all metrics and spans. Needed if several managers share a meter, e.g. `{ 'evergreen.account': 'bakery' }`. */
  attributes?: Attributes | undefined
}

/**
 * Reports a manager to OpenTelemetry: token requests, renewals, the waits of callers, the remaining lifetime of the token,
 * suspicions, anomalies, store errors, and a span for each token request. No token and no credential is reported. A
 * request with a fresh token has no overhead.
 *
 * @example
 * ```ts
 * import { metrics, trace } from '@opentelemetry/api'
 * import { instrument } from 'axios-evergreen/opentelemetry'
 *
 * const stop = instrument(tokens, { meter: metrics.getMeter('payments'), tracer: trace.getTracer('payments') })
 * ```
 * @returns A function that ends the reports. From the next collection on, the gauges are 0. Call it when you close the manager.
 * @throws {TypeError} naming the option, or when the manager is instrumented already.
 */
export function instrument(tokens: Pick<TokenManager, 'onAny' | 'status'>, options: InstrumentOptions): () => void {
  const { meter, tracer, attributes: given } = checked(tokens, options)
  const internals = internalsOf(tokens)
  const resource = member(tokens.status(), 'resource') as NamedResource | undefined
  const attributes = { ...given, ...(resource !== undefined && { 'evergreen.resource': resource.toString() }) }
  const wallNow = () => internals?.clock.wallNow() ?? Date.now()
  const monotonicNow = () => internals?.clock.monotonicNow() ?? performance.now()
  const measurements = meter && new Measurements(meter, attributes, () => tokens.status(), wallNow)
  const calls = new TokenRequests({ tracer, attributes, origin: internals?.origin, measurements, monotonicNow })
  // This comes first, because it throws if the manager is instrumented already.
  const unwatch = internals?.watch?.(calls)
  const stops = [
    unwatch,
    measurements && tokens.onAny((...event) => measurements.onEvent(...event)),
    measurements?.observe(),
  ]
  return () => {
    for (const stop of stops) stop?.()
  }
}

const OPTIONS = { meter: asGiven, tracer: asGiven, attributes: asGiven }

function checked(tokens: unknown, options: InstrumentOptions): InstrumentOptions {
  checkObject('tokens', tokens)
  for (const method of ['onAny', 'status']) checkFunction(`tokens.${method}`, Reflect.get(tokens as object, method))
  const own: InstrumentOptions = readOptions('The options of instrument', options, OPTIONS, '')
  const { meter, tracer, attributes } = own
  if (meter === undefined && tracer === undefined) throw new TypeError('instrument needs a meter, a tracer, or both')
  if (meter !== undefined) checkFunction('meter.createHistogram', (meter as Partial<Meter> | null)?.createHistogram)
  if (tracer !== undefined) checkFunction('tracer.startSpan', (tracer as Partial<Tracer> | null)?.startSpan)
  if (attributes !== undefined) checkObject('attributes', attributes)
  return own
}
