import { createHash } from 'node:crypto'
import type { SuspicionEvent, TokenError, TokenEvents, TokenManager } from '../../src/index.ts'
import type { Edge } from './course.ts'
import type { Promises } from './promises.ts'
import type { Exchange, IssuedAccess, RotatingService } from './rotating-service.ts'
import type { TrueTime } from './true-time.ts'

/** When an exchange started and ended, relative to resets and steps of the clock. */
interface Mark {
  readonly generation: number
  /** How far the wall clock had been set ahead before. */
  readonly steppedMs: number
  /** The generation in which it ended. */
  endedIn?: number
}

type HeldAccess = IssuedAccess & { readonly token: string; readonly turn: number }

const LEAST_PAUSE_MS = 250
const LONGEST_RETRY_AFTER_MS = 300_000
const FORCED_GAP_MS = 2_000
const RENEWAL_GAP_MS = 1_000
const REJECTED_PAUSE_MS = 60_000
/** The time of two responses and the drift (design: Suspicion), and the smallest jump that the manager notices. */
const UNCERTAIN_MS = 5_000

/**
 * Watches a manager from the service's side: which calls the manager makes, and which events it emits. Knows which tokens
 * callers may get. Between two turns everything has happened that needs no time.
 */
export class ExchangeWatch {
  /** Incremented by each reset, and by close: results of earlier exchanges are dropped. */
  generation = 0
  closed = false
  /** The manager makes no call until a reset. */
  stopped = false
  /** The token that was accepted in this generation, and was valid on arrival. */
  held: HeldAccess | undefined
  /** The previous token, if a step of the wall clock may have expired the newer token in transit: the manager may hold either. */
  #heldBefore: HeldAccess | undefined
  inFlight: Exchange | undefined
  readonly #time: TrueTime
  readonly #promises: Promises
  readonly #maxAttempts: number
  readonly #marks = new Map<Exchange, Mark>()
  #service!: RotatingService
  #turn = 0
  #generationBefore = 0
  /** No call may start before this monotonic instant. */
  #notBefore = -Infinity
  /** The same, unless a caller calls `renew()`. */
  #unwishedBefore = -Infinity
  #isWishing = false
  #attempts = 0
  #hasGivenUp = false
  /** After a 429, renewals may make one call each until ten of them have succeeded (F417). */
  #throttled = 0
  #mustObtain = false
  #forcedAt = -Infinity
  #renewedAt = -Infinity
  /** The refresh token of the last exchange, if there was one. */
  #refreshToken: string | undefined
  readonly #suspicious = new Set<string>()
  /** The refresh endpoint returned 404: if no access token is valid, the credentials follow at once. */
  #refreshIsGone = false
  #toBeReported: { refreshToken: string; generation: number }[] = []

  constructor(time: TrueTime, promises: Promises, maxAttempts: number) {
    this.#time = time
    this.#promises = promises
    this.#maxAttempts = maxAttempts
  }

  watch(service: RotatingService, tokens: TokenManager): void {
    this.#service = service
    tokens.on('renewed', (event) => this.#renewed(event))
    tokens.on('renewalFailed', ({ error, nextAttemptAt }) => this.#gaveUp(error, nextAttemptAt))
    tokens.on('suspicious', (event) => this.#suspected(event))
  }

  began(exchange: Exchange): void {
    this.#marks.set(exchange, { generation: this.generation, steppedMs: this.#time.steppedMs })
    const { must } = this.#promises
    must(!this.inFlight, 'at most one exchange is in flight')
    must(!this.closed, 'no exchange begins after close()')
    const notBefore = Math.max(this.#notBefore, this.#unwishedBefore)
    const isObtain = exchange.kind === 'obtain'
    const isSecond = isObtain && this.#refreshIsGone
    const isInTime = isSecond || this.#time.monotonicNow() >= notBefore
    must(isInTime, 'no exchange begins within a pause or a cool-down')
    must(isObtain || !this.#mustObtain, 'a refresh that failed for good is followed by an obtain')
    must(!isObtain || this.#mustObtain || !this.#canRefresh, 'no credentials are spent where a refresh token would do')
    this.#attempts += 1
    const most = this.#hasGivenUp ? (isSecond ? 2 : 1) : this.#maxAttempts
    must(this.#attempts <= most, 'a renewal makes as many calls as it may')
    if (exchange.refreshToken !== undefined) this.#presented(exchange.refreshToken)
    this.#mustObtain = false
    this.#refreshIsGone = false
    this.inFlight = exchange
  }

  /** Whether the manager holds a refresh token that is certainly valid, and was never presented. */
  get #canRefresh(): boolean {
    const token = this.#service.issuedRefreshTokens.get(this.#refreshToken ?? '')
    return token?.presentations.length === 0 && this.#surely(token.expiresAt, token.exchange) > UNCERTAIN_MS
  }

  #presented(refreshToken: string): void {
    const { must } = this.#promises
    const token = this.#service.issuedRefreshTokens.get(refreshToken)
    must(token !== undefined, 'a refresh token is one that was issued')
    if (!token) return
    must(this.#markOf(token).generation === this.generation, 'a refresh token of before a reset is not presented')
    must(this.#time.now() < token.expiresAt, 'a refresh token is presented while it lives')
    const ends = token.presentations.map(({ end }) => `${end?.outcome} ${end?.status}`)
    const failed = ends.filter((end) => end.startsWith('unknown-5xx')).length
    const untouched = ends.filter((end) => /^(deferred|not-sent|rejected 40[34])/.test(end)).length
    must(failed + untouched === ends.length, `a refresh token is not presented after ${ends.join()}`)
    must(failed <= 2, 'a refresh token is presented after two 5xx at most')
    const serves = [this.held, this.#heldBefore].some((held) => held && this.leftOf(held) > hardSkewOf(held))
    must(failed === 0 || serves, 'a refresh token is presented after a 5xx only while the old token serves')
  }

  ended(exchange: Exchange): void {
    this.inFlight = undefined
    const mark = this.#markOf({ exchange })
    mark.endedIn = this.generation
    if (mark.generation !== this.generation || !exchange.end) return
    const { outcome, status, retryAfterMs } = exchange.end
    if (outcome === 'accepted') {
      const token = `access-${exchange.number}`
      const issued = this.#service.access.get(token)!
      this.#refreshToken = `refresh-${exchange.number}`
      if (this.leftOf(issued) <= 0) return
      this.#heldBefore = this.#surely(issued.sentAt + issued.lifetimeMs, exchange) > 0 ? undefined : this.held
      this.held = { ...issued, token, turn: this.#turn }
      return
    }
    const isFinal = outcome === 'unknown' || (outcome === 'rejected' && status !== 404)
    this.#mustObtain = exchange.kind === 'refresh' && isFinal
    this.#refreshIsGone = isGone(exchange)
    const isAsked = outcome === 'deferred' || outcome === 'unknown-5xx'
    const askedMs = isAsked ? Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS) : 0
    this.#rest(this.#mustObtain || this.#refreshIsGone ? 0 : Math.max(askedMs, LEAST_PAUSE_MS))
    const { refreshToken } = exchange
    const token = this.#service.issuedRefreshTokens.get(refreshToken ?? '')
    if (refreshToken === undefined || status !== 401 || !token?.stolen) return
    if (this.#surely(token.expiresAt, token.exchange) > UNCERTAIN_MS)
      this.#toBeReported.push({ refreshToken, generation: mark.generation })
  }

  #renewed({ by, because, durationMs }: TokenEvents['renewed']): void {
    this.#promises.must(by !== 'adopted', 'a manager that shares nothing adopts nothing')
    this.#attempts = 0
    this.#hasGivenUp = false
    this.#throttled -= 1
    if (this.generation !== this.#generationBefore) return // a late event, perhaps from before a reset
    const startedAt = this.#time.monotonicNow() - durationMs
    const isForced = because === 'refused'
    if (isForced)
      this.#promises.must(startedAt >= this.#forcedAt + FORCED_GAP_MS, 'forced renewals keep their distance')
    if (isForced) this.#forcedAt = startedAt
    const isOwnWish = because === 'due' || because === 'expired'
    const isDistant = startedAt >= this.#renewedAt + RENEWAL_GAP_MS
    this.#promises.must(!isOwnWish || isDistant, 'renewals keep their distance, however short a token lives')
    this.#renewedAt = startedAt
  }

  #gaveUp(error: TokenError, nextAttemptAt: number): void {
    const exchange = this.evidenceOf(error)
    if (exchange && this.#markOf({ exchange }).generation !== this.generation) return // a late event
    // The event has whole ms, rounded.
    const coolDownMs = Math.floor(nextAttemptAt - this.#time.wallNow())
    const usualMs = error.code === 'ERR_CREDENTIALS_REJECTED' ? REJECTED_PAUSE_MS : LEAST_PAUSE_MS
    // That cool-down ends as soon as the old token has expired.
    const leastMs = exchange && isGone(exchange) ? 0 : usualMs
    this.#promises.must(coolDownMs >= leastMs, `${error.code} is followed by a cool-down`)
    const { outcome, retryAfterMs } = exchange?.end ?? {}
    const isRetryable = /^(not-sent|unknown-5xx|deferred)$/.test(outcome ?? '') && retryAfterMs === 0
    if (error.code === 'ERR_THROTTLED') this.#throttled = 10
    const mayGiveUp = this.#hasGivenUp || this.#throttled > 0 || this.#attempts >= this.#maxAttempts
    this.#promises.must(mayGiveUp || !isRetryable, 'a renewal makes use of the calls that it may make')
    const isAsked = outcome === 'unknown-5xx' && retryAfterMs !== 0
    if (isAsked || !error.retryable || error.code === 'ERR_THROTTLED') this.#rest(coolDownMs)
    else this.#restUnlessWished(coolDownMs)
    this.#attempts = 0
    this.#hasGivenUp = true
    this.stopped = nextAttemptAt === Infinity
  }

  #suspected({ fingerprint, evidence, action }: SuspicionEvent): void {
    const { must } = this.#promises
    must(!this.#suspicious.has(fingerprint), 'a refresh token is suspicious once')
    this.#suspicious.add(fingerprint)
    const [, token] = [...this.#service.issuedRefreshTokens].find(([text]) => fingerprintOf(text) === fingerprint) ?? []
    const last = token?.presentations.at(-1)
    if (action === 'stop' && last && this.isOfNow(last)) this.#rest(Infinity)
    const ends = token?.presentations.map(({ end }) => end) ?? []
    must(ends.at(-1)?.status === 401, 'what is suspicious was refused')
    if (evidence !== 'unexplained') return
    must(token?.stolen === true, 'only what somebody else has spent is unexplained')
    must(token !== undefined && token.expiresAt - this.#time.now() > 2_000, 'only what surely lives is unexplained')
    const hadUnknown = ends.slice(0, -1).some((end) => end?.outcome.startsWith('unknown'))
    must(!hadUnknown, 'what follows an unknown outcome of our own is not unexplained')
  }

  #rest(ms: number): void {
    this.#notBefore = Math.max(this.#notBefore, this.#time.monotonicNow() + ms)
  }

  #restUnlessWished(ms: number): void {
    this.#notBefore = -Infinity
    this.#unwishedBefore = this.#isWishing ? -Infinity : this.#time.monotonicNow() + ms
  }

  /** Called when a caller calls `renew()`. The renewal may have failed already: listeners are notified a turn later. */
  wished(): void {
    this.#unwishedBefore = -Infinity
    this.#isWishing = true
    queueMicrotask(() => (this.#isWishing = false))
  }

  /** Forgets everything from before a `reset()` or `close()`. */
  forget(): void {
    this.generation += 1
    this.#notBefore = this.#unwishedBefore = this.#forcedAt = this.#renewedAt = -Infinity
    this.#attempts = 0
    this.#hasGivenUp = this.#mustObtain = this.stopped = false
    this.held = this.#heldBefore = this.#refreshToken = undefined
  }

  turned(): void {
    for (const { refreshToken, generation } of this.#toBeReported.splice(0)) {
      const isReported = this.#suspicious.has(fingerprintOf(refreshToken))
      // A reset explains a rejection.
      const isExplained = generation !== this.generation && !this.closed
      this.#promises.must(isReported || isExplained, 'a live refresh token that is refused is reported')
    }
    this.#generationBefore = this.generation
    this.#turn += 1
  }

  // What callers may get.

  /** Ms until the held token reaches an edge of its lifetime; 0 if no token is held. */
  untilMs(edge: Edge): number {
    if (!this.held) return 0
    if (edge === 'its end') return this.leftOf(this.held)
    if (edge === 'its hard skew') return this.leftOf(this.held) - hardSkewOf(this.held)
    const refresh = this.#service.issuedRefreshTokens.get(`refresh-${this.held.exchange.number}`)
    return refresh ? refresh.expiresAt - this.#time.now() : 0
  }

  leftOf({ sentAt, lifetimeMs }: IssuedAccess): number {
    return sentAt + lifetimeMs - this.#time.now()
  }

  /** Remaining lifetime of the held token, ms, even if every step of the wall clock counts as sleep. */
  get surelyLeftMs(): number {
    const { held } = this
    if (!held || held.turn === this.#turn || this.stopped) return -Infinity
    return this.#surely(held.sentAt + held.lifetimeMs, held.exchange)
  }

  /**
   * How long a caller waits for a newer token although there is a held one: until a third of its hard skew is left.
   * Undefined if this is not known to the ms.
   */
  get patienceMs(): number | undefined {
    if (!this.held || !(this.surelyLeftMs > 0) || this.surelyLeftMs !== this.leftOf(this.held)) return undefined
    return Math.ceil(Math.max(0, this.surelyLeftMs - hardSkewOf(this.held) / 3))
  }

  /** Whether the manager holds a token that needs no renewal, whatever the wall clock has done. */
  get serves(): boolean {
    return this.held !== undefined && this.surelyLeftMs > hardSkewOf(this.held)
  }

  /** @returns The exchange that caused an error. */
  evidenceOf({ serviceCode }: Pick<TokenError, 'serviceCode'>): Exchange | undefined {
    return serviceCode === undefined ? undefined : this.#service.exchanges[Number(serviceCode)]
  }

  isOfNow(exchange: Exchange): boolean {
    return this.#markOf({ exchange }).generation === this.generation
  }

  /** A result from before a reset may still reach its caller, but only within the turn of the reset. */
  isOnItsWay(exchange: Exchange): boolean {
    const { generation, endedIn } = this.#markOf({ exchange })
    return generation >= this.#generationBefore && endedIn === generation
  }

  #surely(expiresAt: number, exchange: Exchange): number {
    return expiresAt - this.#time.now() - (this.#time.steppedMs - this.#markOf({ exchange }).steppedMs)
  }

  #markOf({ exchange }: { readonly exchange: Exchange }): Mark {
    return this.#marks.get(exchange)!
  }
}

/** Whether the service has no refresh endpoint any more. Then the credentials are used. */
function isGone({ kind, end }: Exchange): boolean {
  return kind === 'refresh' && end?.status === 404
}

/** Design, "The life of a token": a twentieth of the lifetime, 1 s to 10 s, never more than a quarter. */
export function hardSkewOf({ lifetimeMs }: { readonly lifetimeMs: number }): number {
  return Math.min(Math.max(lifetimeMs / 20, 1_000), 10_000, lifetimeMs / 4)
}

/** The skew without jitter (as above): a quarter of the lifetime, 2 s to 5 min, never more than half. */
export function skewOf({ lifetimeMs }: { readonly lifetimeMs: number }): number {
  return Math.min(Math.max(lifetimeMs / 4, 2_000), 300_000, lifetimeMs / 2)
}

function fingerprintOf(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 8)
}
