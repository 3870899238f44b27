import { clientCredentials, createTokenManager, loginPassword } from 'axios-evergreen'
import { TokenCalls } from './token-calls.mjs'

/** Numbers all moments that are compared, so that their order is certain. */
let clock = 0
export const nextMoment = () => ++clock

/** One account at a service of its own, and the manager of its tokens. */
export class Account {
  /** Resets the manager while the next token call is on its way, which is the worst moment. */
  resetsAtNextCall = false
  /** The most alarms that are right: thefts, and refusals of good refresh tokens. */
  causes = 0
  #alarms = 0
  #options
  #resetAt = 0
  /** Of the manager in use, and of the one before, whose requests may still be on their way. */
  #calls = []

  /** @param options Of the manager, and `vault`: the credentials come from a function that fails at times. */
  constructor(name, variant, service, tally, dice, options) {
    this.name = name
    this.variant = variant
    this.service = service
    this.tally = tally
    this.dice = dice
    this.#options = options
    this.#start()
  }

  get origin() {
    return this.service.baseUrl
  }

  reset() {
    this.#resetAt = nextMoment()
    for (const calls of this.#calls) calls.retireAll()
    return this.tokens.reset()
  }

  /** As at a deploy: the old manager is closed, and a new one knows nothing of its tokens. */
  restart() {
    const old = this.tokens
    this.#resetAt = nextMoment()
    this.#start()
    return old.close()
  }

  /**
   * @param began When the request that carries the token began.
   * @returns Whether the token has certainly expired: the service must refuse it.
   */
  check(authorization, began) {
    const { name, tally } = this
    const token = String(authorization).replace('Bearer ', '')
    const grant = this.#calls.map((calls) => calls.grantOf(token)).find(Boolean)
    if (!authorization) tally.breach('bare', name)
    else if (!grant) tally.breach('foreign', name)
    else if (grant.asked < this.#resetAt && began > this.#resetAt) tally.breach('outdated', name)
    return grant !== undefined && performance.now() > grant.expiredAt
  }

  #start() {
    const { vault, ...options } = this.#options
    const { name, variant, tally } = this
    const { lifetimeMs } = this.service
    const calls = new TokenCalls({ name, variant, tally, now: nextMoment, lifetimeMs, onCall: () => this.#onCall() })
    this.#calls = [calls, ...this.#calls.slice(0, 1)]
    this.tokens = createTokenManager({
      source: calls.around(this.#source(vault)),
      random: this.dice.random,
      exchangeTimeoutMs: 1_500,
      renewal: { maxWaitMs: 3_000 },
      retry: { baseDelayMs: 100 },
      ...options,
    })
    this.#listen()
  }

  #onCall() {
    if (this.resetsAtNextCall) queueMicrotask(() => void this.reset())
    this.resetsAtNextCall = false
  }

  #source(vault) {
    const { baseUrl, client, login } = this.service
    const [create, account] = this.variant === 'A' ? [clientCredentials, client] : [loginPassword, login]
    if (!vault) return create({ baseUrl, ...account })
    const credentials = async () => {
      if (this.dice.happens(0.1)) throw new Error('the vault is closed')
      return account
    }
    return create({ baseUrl, credentials, account: this.name })
  }

  #listen() {
    const { tokens, tally, variant, name } = this
    tokens.on('renewed', ({ by, because }) => tally.add(variant, 'renewals', `${because}, by ${by}`))
    tokens.on('renewalFailed', ({ error }) => tally.add(variant, 'givenUp', error.code))
    tokens.on('anomaly', ({ kind }) => tally.add(variant, 'anomalies', kind))
    tokens.on('suspicionSettled', ({ verdict }) => tally.add(variant, 'settled', verdict))
    tokens.on('suspicious', ({ evidence, severity }) => {
      tally.add(variant, 'suspicions', `${evidence}, ${severity}`)
      // A refresh token may expire on its way. The manager reports that too, but it is no alarm.
      if (evidence === 'clock-uncertain') return
      this.#alarms += 1
      if (this.#alarms > this.causes) tally.breach('falseAlarm', `${name}: ${evidence}`)
    })
  }
}
