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
/** Chosen from those of HTTP in the semantic conventions, and 30 s, the default limit of a waiting caller. */
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
  /** The last suspicion: its fingerprint, and the attributes of its verdict. */
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
    this.#calls = counter('evergreen.token.calls', 'Calls of the token service', 'call')
    this.#renewals = seconds('evergreen.renewal.duration', 'Time from the start of a renewal to its new token')
    this.#waits = seconds('evergreen.wait.duration', 'Time that callers waited for a token')
    this.#failures = counter('evergreen.renewal.failures', 'Renewals that gave up', 'renewal')
    this.#requests = counter('evergreen.requests.failed', 'Requests for which there was no token', 'request')
    this.#logins = counter('evergreen.logins.required', 'Logins that ended, so that a person must log in', 'login')
    this.#suspicions = counter(
      'evergreen.suspicions',
      'Refresh tokens that were refused before their time',
      'suspicion',
    )
    this.#verdicts = counter('evergreen.suspicions.settled', 'Suspicions that have a verdict', 'suspicion')
    this.#storeErrors = counter('evergreen.store.errors', 'Minutes in which the shared store failed', 'error')
    this.#anomalies = counter('evergreen.anomalies', 'What was odd but survivable', 'anomaly')
  }

  /** Reads the status at each collection of metrics. @returns stop */
  observe(): () => void {
    const remaining = this.#meter.createObservableGauge('evergreen.token.remaining', {
      description: 'Life left to the access token',
      unit: 's',
    })
    const phase = this.#meter.createObservableGauge('evergreen.manager.phase', {
      description: '1 for the phase that the manager is in, 0 for the others',
    })
    const stops = [
      this.#tell(remaining, (result, { accessExpiresAt = 0 }) =>
        result.observe(Math.max(0, accessExpiresAt - this.#wallNow()) / 1_000, this.#attributes),
      ),
      this.#tell(phase, (result, { phase: now }) => {
        for (const one of PHASES) result.observe(one === now ? 1 : 0, { ...this.#attributes, 'evergreen.phase': one })
      }),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** Exporters repeat the last value of a gauge for ever. So a gauge is 0 without a token, and at the reading after its end. @returns stop */
  #tell(gauge: ObservableGauge, tell: (result: ObservableResult, status: Partial<LoginStatus>) => void): () => void {
    let isTold = false
    let isEnded = false
    const callback = (result: ObservableResult) => {
      tell(result, isEnded ? {} : this.#status())
      isTold = true
      // Not at once: the SDK is going through its list of callbacks, and would leave out the next one.
      if (isEnded) queueMicrotask(remove)
    }
    const remove = () => gauge.removeCallback(callback)
    gauge.addCallback(callback)
    return () => {
      isEnded = true
      if (!isTold) remove()
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

  hear(name: keyof LoginEvents, event: object): void {
    this.#hearing[name]?.(event as never)
  }

  readonly #hearing: { readonly [Name in keyof LoginEvents]?: (event: LoginEvents[Name]) => void } = {
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
    // Each other process of the store says `elsewhere`: one login that ended counts once.
    loginChanged: ({ login, by, reason = 'unknown' }) => {
      if (login === 'required' && by === 'here')
        this.#logins.add(1, { ...this.#attributes, 'evergreen.login.reason': reason })
    },
    storeUnavailable: () => this.#storeErrors.add(1, this.#attributes),
    anomaly: ({ kind }) => this.#anomalies.add(1, { ...this.#attributes, 'evergreen.anomaly.kind': kind }),
  }
}
