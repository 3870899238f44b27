import type { Attributes, Meter, ObservableGauge, ObservableResult } from '@opentelemetry/api'
import type { LoginEvents } from '../core/events.ts'
import type { LoginStatus } from '../core/status.ts'

const PHASES: readonly LoginStatus['phase'][] = [
  'empty',
  'fresh',
  'due',
  'expired',
  'refused',
  'cooling-down',
  'stopped',
  'closed',
]
/** A selection of the HTTP boundaries of the semantic conventions, and 30 s, the default limit of a wait. */
const BOUNDARIES_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The metrics of one manager. Names and units follow the semantic conventions. */
export class Measurements {
  readonly #meter: Meter
  readonly #attributes: Attributes
  readonly #status: () => LoginStatus
  readonly #wallNow: () => number
  readonly #calls
  readonly #renewals
  readonly #waits
  readonly #failures
  readonly #requests
  readonly #logins
  readonly #suspicions
  readonly #verdicts
  /** The last suspicion: its fingerprint, and the attributes for its verdict. */
  #suspected: { fingerprint: string; attributes: Attributes } | undefined
  readonly #storeErrors
  readonly #anomalies

  constructor(meter: Meter, attributes: Attributes, status: () => LoginStatus, wallNow: () => number) {
    this.#meter = meter
    this.#attributes = attributes
    this.#status = status
    this.#wallNow = wallNow
    const seconds = (name: string, description: string) =>
      meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: BOUNDARIES_S } })
    const counter = (name: string, description: string, what: string) =>
      meter.createCounter(name, { description, unit: `{${what}}` })
    this.#calls = counter('evergreen.token.calls', 'Token requests', 'call')
    this.#renewals = seconds('evergreen.renewal.duration', 'Time from the start of a renewal to its new token')
    this.#waits = seconds('evergreen.wait.duration', 'Time that callers waited for a token')
    this.#failures = counter('evergreen.renewal.failures', 'Renewals that failed', 'renewal')
    this.#requests = counter('evergreen.requests.failed', 'Requests for which there was no token', 'request')
    this.#logins = counter('evergreen.logins.required', 'Logins that ended, so that the user must log in', 'login')
    this.#suspicions = counter(
      'evergreen.suspicions',
      'Refresh tokens that were rejected before they expired',
      'suspicion',
    )
    this.#verdicts = counter('evergreen.suspicions.settled', 'Suspicions that have a verdict', 'suspicion')
    this.#storeErrors = counter('evergreen.store.errors', 'Minutes in which the shared store failed', 'error')
    this.#anomalies = counter('evergreen.anomalies', 'Unexpected but recoverable conditions', 'anomaly')
  }

  /** Reads the status at each collection of metrics. @returns A function that stops this. */
  observe(): () => void {
    const remaining = this.#meter.createObservableGauge('evergreen.token.remaining', {
      description: 'Remaining lifetime of the access token',
      unit: 's',
    })
    const phase = this.#meter.createObservableGauge('evergreen.manager.phase', {
      description: '1 for the phase that the manager is in, 0 for the others',
    })
    const stops = [
      this.#observeGauge(remaining, (result, { accessExpiresAt = 0 }) =>
        result.observe(Math.max(0, accessExpiresAt - this.#wallNow()) / 1_000, this.#attributes),
      ),
      this.#observeGauge(phase, (result, { phase: now }) => {
        for (const one of PHASES) result.observe(one === now ? 1 : 0, { ...this.#attributes, 'evergreen.phase': one })
      }),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** Exporters repeat the last value of a gauge, so a gauge must be 0 without a token, and be reported as 0 once after the stop. @returns A function that stops this. */
  #observeGauge(
    gauge: ObservableGauge,
    read: (result: ObservableResult, status: Partial<LoginStatus>) => void,
  ): () => void {
    let isRead = false
    let isEnded = false
    const callback = (result: ObservableResult) => {
      read(result, isEnded ? {} : this.#status())
      isRead = true
      // Deferred: the SDK is iterating over its callbacks, and would skip the next one.
      if (isEnded) queueMicrotask(remove)
    }
    const remove = () => gauge.removeCallback(callback)
    gauge.addCallback(callback)
    return () => {
      isEnded = true
      if (!isRead) remove()
    }
  }

  called(attributes: Attributes): void {
    this.#calls.add(1, { ...this.#attributes, ...attributes })
  }

  waited(ms: number, errorType: string | undefined): void {
    this.#waits.record(ms / 1_000, { ...this.#attributes, ...(errorType !== undefined && { 'error.type': errorType }) })
  }

  failed(errorType: string): void {
    this.#requests.add(1, { ...this.#attributes, 'error.type': errorType })
  }

  onEvent(name: keyof LoginEvents, event: object): void {
    this.#handlers[name]?.(event as never)
  }

  readonly #handlers: { readonly [Name in keyof LoginEvents]?: (event: LoginEvents[Name]) => void } = {
    renewed: ({ by, because, durationMs }) => {
      const attributes = { 'evergreen.renewal.by': by, 'evergreen.renewal.cause': because }
      this.#renewals.record(durationMs / 1_000, { ...this.#attributes, ...attributes })
    },
    renewalFailed: ({ error }) => this.#failures.add(1, { ...this.#attributes, 'error.type': error.code }),
    suspicious: ({ severity, evidence, fingerprint }) => {
      const attributes = { 'evergreen.suspicion.severity': severity, 'evergreen.suspicion.evidence': evidence }
      this.#suspected = { fingerprint, attributes }
      this.#suspicions.add(1, { ...this.#attributes, ...attributes })
    },
    suspicionSettled: ({ fingerprint, verdict }) => {
      const about = this.#suspected?.fingerprint === fingerprint ? this.#suspected.attributes : {}
      this.#verdicts.add(1, { ...this.#attributes, ...about, 'evergreen.suspicion.verdict': verdict })
    },
    // Other processes that share the store report `elsewhere`, so each ended login counts once.
    loginChanged: ({ login, by, reason = 'unknown' }) => {
      if (login === 'required' && by === 'here')
        this.#logins.add(1, { ...this.#attributes, 'evergreen.login.reason': reason })
    },
    storeUnavailable: () => this.#storeErrors.add(1, this.#attributes),
    anomaly: ({ kind }) => this.#anomalies.add(1, { ...this.#attributes, 'evergreen.anomaly.kind': kind }),
  }
}
