import { createTokenManager, TokenError, type TokenGrant, type TokenSource } from '../../src/index.ts'
import { type LoginManager, type LoginLayer, person } from '../../src/login/index.ts'
import { dice } from '../../scripts/lib/dice.mjs'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'

const ACCESS_MS = 300_000
const LOGIN = { accessToken: 'access-0', accessLifetimeMs: ACCESS_MS, refreshToken: 'refresh-0' }
/** Each login is used once in this time. */
const USED_EACH_MS = 20_000

/** An outage of the token service. When it begins, the users have logged in at any moment of the last five minutes. */
export interface Outage {
  readonly durationMs: number
  readonly status: 502 | 503
  /** The share of failed requests after which the service has used the refresh token anyway. */
  readonly usedShare: number
  /** All access tokens have expired when the outage begins. */
  readonly allWake?: boolean
}

/** How the manager knows that only a user can obtain. `old`: only from `obtain`, as in 0.1. */
export type Rule = 'old' | 'new'

interface Seen {
  /** Logins whose callers met ERR_LOGIN_REQUIRED. */
  lost: number
  /** Those of them whose refresh token no failed request had used. */
  lostForNothing: number
  /** Failures that stated neither that a login is required nor when to try again. */
  mute: number
}

/** A service of one login. It rotates refresh tokens, and ends the login if a used one is presented. */
class Service implements TokenSource {
  readonly id: string
  readonly login?: LoginLayer
  /** A failed request has used the refresh token. */
  wasUsed = false
  calls = 0
  readonly #live: { token: string | undefined } = { token: 'refresh-0' }
  readonly #fails: () => Outage | undefined
  readonly #random: () => number
  readonly #rule: Rule

  constructor(id: string, rule: Rule, fails: () => Outage | undefined, random: () => number) {
    this.id = id
    this.#rule = rule
    if (rule === 'new') this.login = person
    this.#fails = fails
    this.#random = random
  }

  obtain(): Promise<never> {
    return Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'A person must log in', { outcome: 'not-sent' }))
  }

  async refresh(refreshToken: string): Promise<TokenGrant> {
    this.calls += 1
    const outage = this.#fails()
    if (outage && this.#random() >= outage.usedShare) throw failed(outage, this.#rule)
    if (refreshToken !== this.#live.token) {
      this.#live.token = undefined
      throw new TokenError('ERR_REFRESH_REJECTED', '400', { outcome: 'rejected', refreshToken: 'refused', status: 400 })
    }
    this.#live.token = `refresh-${this.calls}`
    if (outage) {
      this.wasUsed = true
      throw failed(outage, this.#rule)
    }
    return { accessToken: `access-${this.calls}`, accessLifetimeMs: ACCESS_MS, refreshToken: this.#live.token }
  }
}

/** As the bundled sources report it: after a 503 the refresh token of a login is untouched. */
function failed({ status }: Outage, rule: Rule): TokenError {
  const kept = status === 503 && rule === 'new' && ({ refreshToken: 'kept' } as const)
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', String(status), { outcome: 'unknown-5xx', status, ...kept })
}

interface User {
  readonly service: Service
  readonly tokens: LoginManager
  readonly asksAt: number
  isLost: boolean
}

/** Three hundred users use their logins through an outage, until each access token has expired that was valid in it. */
export async function liveThrough(outage: Outage, rule: Rule, people: number): Promise<Seen> {
  const clock = manualClock()
  const beginsAt = ACCESS_MS
  const endsAt = beginsAt + outage.durationMs
  const fails = () => {
    const now = clock.monotonicNow()
    return now >= beginsAt && now < endsAt ? outage : undefined
  }
  const seen: Seen = { lost: 0, lostForNothing: 0, mute: 0 }
  const users = Array.from({ length: people }, (_, n): User => userOf(n, rule, fails, clock))
  const order = dice(25)
  const loginsAt = users.map(() => (outage.allWake ? 0 : Math.floor(order.between(0, ACCESS_MS / 1_000)) * 1_000))
  const asks: Promise<void>[] = []
  for (let now = 0; now < endsAt + ACCESS_MS + 60_000; now = clock.monotonicNow()) {
    for (const [n, user] of users.entries()) {
      if (loginsAt[n] === now) await user.tokens.adopt({ ...LOGIN })
      const isAwake = now >= (outage.allWake ? beginsAt : loginsAt[n]!)
      if (isAwake && now % USED_EACH_MS === user.asksAt && !user.isLost) asks.push(use(user, seen))
    }
    await clock.advance(1_000)
  }
  await Promise.all(asks)
  await Promise.all(users.map(({ tokens }) => tokens.close()))
  return seen
}

function userOf(n: number, rule: Rule, fails: () => Outage | undefined, clock: ManualClock): User {
  const service = new Service(`login ${n}`, rule, fails, dice(25, 2 * n + 1).random)
  const tokens = createTokenManager({ source: service, clock, random: dice(25, 2 * n + 2).random }) as LoginManager
  return { service, tokens, asksAt: (n % 20) * 1_000, isLost: false }
}

/** The user makes one request. */
async function use(user: User, seen: Seen): Promise<void> {
  try {
    await user.tokens.getAccessToken()
  } catch (error) {
    const { code, retryAt } = error as TokenError
    if (code !== 'ERR_LOGIN_REQUIRED') {
      if (retryAt === undefined && code !== 'ERR_WAIT_TIMEOUT') seen.mute += 1
      return
    }
    if (user.isLost) return
    user.isLost = true
    seen.lost += 1
    if (!user.service.wasUsed) seen.lostForNothing += 1
  }
}
