import {
  type ExchangeContext,
  type ExchangeOutcome,
  TokenError,
  type TokenErrorCode,
  type TokenGrant,
  type TokenSource,
} from '../../src/index.ts'
import { FATES } from '../support/managed.ts'
import type { ManualClock } from '../../tools/testing/manual-clock.ts'

/** How the service, or the network, treats one exchange. */
export interface Behaviour {
  readonly ends: Ending
  /** Ms from the call to its end. */
  readonly takesMs: number
  readonly retryAfterMs?: number | undefined
  /** Remaining lifetime of the access token on arrival, ms; undefined: most of its usual lifetime. */
  readonly leftMs?: number | undefined
}

/** `acts`: the service issues a token set, and the presented refresh token is spent, whatever response the caller gets. */
const ENDINGS = {
  accepted: { acts: true, outcome: 'accepted' },
  'accepted without a refresh token': { acts: true, outcome: 'accepted' },
  'badly signed': { acts: true, outcome: 'unknown', code: 'ERR_SIGNATURE' },
  400: { acts: false, outcome: 'rejected', status: 400 },
  401: { acts: false, outcome: 'rejected', status: 401 },
  403: { acts: false, outcome: 'rejected', status: 403 },
  404: { acts: false, outcome: 'rejected', status: 404, code: 'ERR_TOKEN_REQUEST' },
  429: { acts: false, outcome: 'deferred', status: 429, code: 'ERR_THROTTLED' },
  503: { acts: false, outcome: 'unknown-5xx', status: 503 },
  '503 after the act': { acts: true, outcome: 'unknown-5xx', status: 503 },
  'not sent': { acts: false, outcome: 'not-sent' },
  'lost before the act': { acts: false, outcome: 'unknown' },
  'lost after the act': { acts: true, outcome: 'unknown' },
  'hangs before the act': { acts: false, outcome: 'unknown' },
  'hangs after the act': { acts: true, outcome: 'unknown' },
} as const satisfies Record<string, { acts: boolean; outcome: ExchangeOutcome; status?: number; code?: TokenErrorCode }>

export type Ending = `${keyof typeof ENDINGS}`
export const endings = Object.keys(ENDINGS) as Ending[]

export const HEALTHY: Behaviour = { ends: 'accepted', takesMs: 0 }

export interface Exchange {
  readonly number: number
  readonly kind: 'obtain' | 'refresh'
  readonly refreshToken?: string | undefined
  /** How the exchange ended for the manager; undefined: not yet. */
  end?: { readonly outcome: ExchangeOutcome; readonly status?: number | undefined; readonly retryAfterMs: number }
}

export interface IssuedAccess {
  readonly exchange: Exchange
  readonly lifetimeMs: number
  /** On the true clock. */
  readonly sentAt: number
}

export interface IssuedRefresh {
  readonly exchange: Exchange
  /** On the true clock. */
  readonly expiresAt: number
  /** Not spent. */
  good: boolean
  /** Spent by another user. */
  stolen: boolean
  readonly presentations: Exchange[]
}

export interface Lifetimes {
  readonly accessMs: number
  readonly refreshMs: number
}

/** The next behaviours. When none is left, the service is healthy. */
export type Scripts = Readonly<Record<Exchange['kind'], readonly Behaviour[]>>

interface Witness {
  began(exchange: Exchange): void
  ended(exchange: Exchange): void
}

/**
 * A token service that really rotates: a refresh token that it has acted on is spent, whether or not the new one arrived. It
 * acts as soon as it is called, so a lifetime counted from the sending of the request is exact.
 */
export class RotatingService implements TokenSource {
  readonly id = 'rotating'
  readonly exchanges: Exchange[] = []
  readonly access = new Map<string, IssuedAccess>()
  readonly issuedRefreshTokens = new Map<string, IssuedRefresh>()
  refresh?: (refreshToken: string, context: ExchangeContext) => Promise<TokenGrant>
  readonly #scripts: Record<Exchange['kind'], Behaviour[]>
  /** Number of timers that the service itself has set. */
  pendingTimers = 0
  readonly #lifetimes: Lifetimes
  readonly #clock: ManualClock
  readonly #trueNow: () => number
  readonly #witness: Witness

  constructor(
    { pairs, lifetimes, scripts }: { pairs: boolean; lifetimes: Lifetimes; scripts: Scripts },
    clock: ManualClock,
    trueNow: () => number,
    witness: Witness,
  ) {
    this.#lifetimes = lifetimes
    this.#scripts = { obtain: [...scripts.obtain], refresh: [...scripts.refresh] }
    this.#clock = clock
    this.#trueNow = trueNow
    this.#witness = witness
    if (pairs) this.refresh = (refreshToken, context) => this.#exchange('refresh', context, refreshToken)
  }

  /** From now on the service is healthy. */
  heal(): void {
    this.#scripts.obtain.splice(0)
    this.#scripts.refresh.splice(0)
  }

  obtain(context: ExchangeContext): Promise<TokenGrant> {
    return this.#exchange('obtain', context)
  }

  async #exchange(kind: Exchange['kind'], { signal }: ExchangeContext, refreshToken?: string): Promise<TokenGrant> {
    const behaviour = this.#scripts[kind].shift() ?? HEALTHY
    const exchange: Exchange = { number: this.exchanges.length, kind, refreshToken }
    this.#witness.began(exchange)
    this.exchanges.push(exchange)
    const presented = this.issuedRefreshTokens.get(refreshToken ?? '')
    presented?.presentations.push(exchange)
    const answer = this.#act(exchange, behaviour, presented)
    signal.addEventListener('abort', () => this.#end(exchange, { outcome: 'unknown', retryAfterMs: 0 }))
    if (behaviour.ends.startsWith('hangs')) await new Promise<never>(() => undefined)
    if (behaviour.takesMs > 0) await this.#pause(behaviour.takesMs)
    if (!(answer instanceof TokenError)) {
      this.#end(exchange, { outcome: 'accepted', retryAfterMs: 0 })
      return answer
    }
    const { outcome = 'unknown', status, retryAfterMs = 0 } = answer
    this.#end(exchange, { outcome, status, retryAfterMs })
    throw answer
  }

  #act(exchange: Exchange, behaviour: Behaviour, presented: IssuedRefresh | undefined): TokenGrant | TokenError {
    const { acts } = ENDINGS[behaviour.ends]
    const isGood = !presented || (presented.good && this.#trueNow() < presented.expiresAt)
    if (presented && isGood && (acts || behaviour.ends === '401')) presented.good = false
    if (presented && isGood && behaviour.ends === '401') presented.stolen = true
    const grant = acts && isGood ? this.#issue(exchange, behaviour) : undefined
    const { outcome } = ENDINGS[behaviour.ends]
    if (outcome !== 'accepted') return failure(exchange, behaviour.ends, behaviour.retryAfterMs)
    return grant ?? failure(exchange, '401')
  }

  #issue(exchange: Exchange, { ends, takesMs, leftMs }: Behaviour): TokenGrant {
    const { accessMs, refreshMs } = this.#lifetimes
    const lifetimeMs = leftMs === undefined ? accessMs : Math.max(1, takesMs + leftMs)
    const [accessToken, refreshToken] = [`access-${exchange.number}`, `refresh-${exchange.number}`]
    const sentAt = this.#trueNow()
    this.access.set(accessToken, { exchange, lifetimeMs, sentAt })
    const grant = { accessToken, accessLifetimeMs: lifetimeMs }
    if (!this.refresh || ends === 'accepted without a refresh token') return grant
    const expiresAt = sentAt + refreshMs
    this.issuedRefreshTokens.set(refreshToken, { exchange, expiresAt, good: true, stolen: false, presentations: [] })
    return { ...grant, refreshToken, refreshLifetimeMs: refreshMs }
  }

  /** Ignores an end after the timeout. */
  #end(exchange: Exchange, end: NonNullable<Exchange['end']>): void {
    if (exchange.end) return
    exchange.end = end
    this.#witness.ended(exchange)
  }

  #pause(ms: number): Promise<void> {
    this.pendingTimers += 1
    return new Promise((resolve) => {
      this.#clock.setTimer(() => {
        this.pendingTimers -= 1
        resolve()
      }, ms)
    })
  }
}

/** The error carries the number of its exchange as `serviceCode`. */
function failure({ number, kind }: Exchange, ends: Ending, retryAfterMs?: number): TokenError {
  const { outcome, status, code }: { outcome: ExchangeOutcome; status?: number; code?: TokenErrorCode } = ENDINGS[ends]
  const usual = kind === 'obtain' ? 'ERR_CREDENTIALS_REJECTED' : 'ERR_REFRESH_REJECTED'
  return new TokenError(code ?? (outcome === 'rejected' ? usual : 'ERR_TOKEN_SERVICE_UNAVAILABLE'), ends, {
    outcome,
    status,
    retryAfterMs,
    refreshToken: FATES[status ?? 0],
    serviceCode: String(number),
  })
}
