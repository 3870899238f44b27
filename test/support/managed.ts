import {
  type TokenManager,
  createTokenManager,
  type ExchangeContext,
  type ExchangeOutcome,
  TokenError,
  type TokenErrorCode,
  type TokenGrant,
  type TokenManagerOptions,
  type TokenSource,
} from '../../src/index.ts'
import type { LoginEvents, LoginManager } from '../../src/login/index.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'

export interface Call {
  readonly kind: 'obtain' | 'refresh'
  readonly at: number
  readonly refreshToken?: string
  readonly signal: AbortSignal
}

type Answer = (call: Call) => TokenGrant | Promise<TokenGrant>

/** A source that handles each call with the next entry of `script`, and with a grant of `lifetimeMs` when there are none left. */
export class ScriptedSource implements TokenSource {
  readonly id = 'scripted'
  readonly calls: Call[] = []
  readonly script: Answer[] = []
  lifetimeMs = 60_000
  /** Whether each grant has a refresh token. */
  pairs = false
  /** How long each call takes, ms on the clock of its context. */
  takesMs = 0
  #issued = 0
  refresh?: (refreshToken: string, context: ExchangeContext) => Promise<TokenGrant>

  constructor(settings: Partial<Pick<ScriptedSource, 'lifetimeMs' | 'pairs' | 'takesMs'>> = {}) {
    Object.assign(this, settings)
    if (this.pairs) this.refresh = (refreshToken, context) => this.#answer('refresh', context, refreshToken)
  }

  obtain(context: ExchangeContext): Promise<TokenGrant> {
    return this.#answer('obtain', context)
  }

  grant(changes: Partial<TokenGrant> = {}): TokenGrant {
    this.#issued += 1
    const grant: TokenGrant = { accessToken: `access-${this.#issued}`, accessLifetimeMs: this.lifetimeMs }
    if (this.pairs) Object.assign(grant, { refreshToken: `refresh-${this.#issued}`, refreshLifetimeMs: 3_600_000 })
    return { ...grant, ...changes }
  }

  get kinds(): string {
    return this.calls.map((call) => call.kind).join(' ')
  }

  async #answer(kind: Call['kind'], { signal, clock }: ExchangeContext, refreshToken?: string): Promise<TokenGrant> {
    const call: Call = { kind, at: clock.monotonicNow(), signal, ...(refreshToken !== undefined && { refreshToken }) }
    this.calls.push(call)
    const answer = this.script.shift() ?? (() => this.grant())
    if (this.takesMs > 0) await new Promise<void>((resolve) => clock.setTimer(resolve, this.takesMs))
    return answer(call)
  }
}

/** A result that fails with `status`, classified as the specification says. */
export function failing(status: number, details: { retryAfterMs?: number } = {}): Answer {
  const REJECTED = { obtain: 'ERR_CREDENTIALS_REJECTED', refresh: 'ERR_REFRESH_REJECTED' } as const
  return ({ kind }) => {
    const [code, outcome]: [TokenErrorCode, ExchangeOutcome] =
      status === 429
        ? ['ERR_THROTTLED', 'deferred']
        : status >= 500
          ? ['ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown-5xx']
          : status === 404
            ? ['ERR_TOKEN_REQUEST', 'rejected']
            : [REJECTED[kind], 'rejected']
    throw new TokenError(code, `responded with ${status}`, { status, outcome, refreshToken: FATES[status], ...details })
  }
}

/** What the bundled sources report about a refresh token after a response of this status. */
export const FATES: Partial<Record<number, 'refused' | 'unusable' | 'kept'>> = {
  400: 'unusable',
  401: 'refused',
  403: 'kept',
}

export function failingWith(code: TokenErrorCode, outcome: ExchangeOutcome): Answer {
  return () => {
    throw new TokenError(code, code, { outcome })
  }
}

/** A result that waits until the test calls `open`. */
export function held(answer: Answer): { answer: Answer; open: () => void } {
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => (open = resolve))
  return { open: () => open(), answer: (call) => gate.then(() => answer(call)) }
}

type ObservedEvents = { [Name in keyof LoginEvents]: LoginEvents[Name][] }

export interface Managed {
  readonly clock: ManualClock
  readonly source: ScriptedSource
  readonly tokens: LoginManager
  /** All events of the manager, by name. */
  readonly observed: ObservedEvents
}

/** A manager with a scripted source in virtual time. Jitter and backoff use the lowest draw. @param unheard Without listeners. */
export function manage(
  source = new ScriptedSource(),
  options: Partial<TokenManagerOptions> = {},
  clock = manualClock(),
  { unheard = false } = {},
): Managed {
  const tokens = createTokenManager({ source, clock, random: () => 0, ...options }) as LoginManager
  return { clock, source, tokens, observed: listen(tokens, unheard ? [] : NAMES) }
}

const NAMES = [
  'renewed',
  'retry',
  'renewalFailed',
  'suspicious',
  'suspicionSettled',
  'loginChanged',
  'anomaly',
  'storeUnavailable',
] as const

/** @param tokens Every manager has the methods of a login, but only some types declare them. */
export function listen(tokens: TokenManager, names: readonly (keyof LoginEvents)[] = NAMES): ObservedEvents {
  const observed = Object.fromEntries(NAMES.map((name) => [name, []])) as unknown as ObservedEvents
  for (const name of names) (tokens as LoginManager).on(name, (event) => observed[name].push(event as never))
  return observed
}

/** @returns How a promise ended. A rejection does not fail the test. */
export function outcome<Value>(promise: Promise<Value>): Promise<Value | TokenError> {
  return promise.catch((error: unknown) => error as TokenError)
}
