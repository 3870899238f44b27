import type { Decide, Lease, Report } from '../../src/core/lease.ts'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { INTERNALS, type ManagerInternals } from '../../src/core/manager-internals.ts'
import {
  type Clock,
  createTokenManager,
  type TokenError,
  type TokenGrant,
  type TokenSource,
  type TokenStore,
} from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { forResource, type ResourceTokens } from '../../src/oauth2/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { hashOf } from './hash.ts'
import type { Watch } from './watch.ts'

/**
 * One wish of the callers of an owner. due: after 50 s, when the token is due, a caller needs it, and the renewal ends ·
 * later: a get, after the pause of an owner that waits for a login · login: a user logs in, and the owner adopts the
 * tokens; the service may name the user · logout, reset · look: a check of the record, as by a page that follows its login · request: it is sent, and
 * the API rejects its token, as an attachment sees it · ended: a get, when the access token has expired · days: a get, after more than a day and
 * the lifetime of a refresh token · orders, stock: a get of a resource.
 */
export type Wish =
  Login | Resource | 'get' | 'renew' | 'due' | 'later' | 'logout' | 'reset' | 'look' | 'request' | 'ended' | 'days'
export type Resource = 'orders' | 'stock'
type Login = 'login' | 'login ann' | 'login bob'
/** What an owner does in one turn, concurrently: nothing waits for the end of what was done before. */
export type Act = Wish | `${Wish}+${Wish}` | `${Wish}+${Wish}+${Wish}`

export const MAX_WAIT_MS = 8_000
/** With this limit, the lease of an exchange expires after 1 500 ms. */
export const EXCHANGE_MS = 1_000
/** After this time, a lease no longer blocks other owners. */
export const CLAIM_MS = EXCHANGE_MS * 1.5
const COMMAND_MS = 100
const UNTIL_MS: Partial<Record<Wish, number>> = { due: 50_000, later: 1_500, ended: 61_000, days: 26 * 3_600_000 }

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** How one wish ended. */
export interface Told {
  readonly wish: Wish
  readonly askedAt: number
  endedAt?: number
  token?: string | undefined
  error?: string
  /** The login of the caller at the call, as far as that can be known. */
  readonly login?: string | undefined
  /** How many logins and logouts the owner had received at the call. */
  readonly acts?: number
}

interface Offered {
  readonly version: number
  readonly login: string | undefined
}

/** What an owner sees of the world. */
export interface Surroundings {
  readonly register: TokenRegister
  readonly source: TokenSource
  readonly login: (person?: string) => TokenGrant
  readonly watch: Watch
  readonly time: () => number
  readonly sleptMs: () => number
  readonly onUnavailable: 'private' | 'fail'
}

/** A granted lease. `isUsed`: its one exchange has begun. */
export interface Grant extends Lease {
  readonly askedAt: number
  isUsed: boolean
}

/**
 * A process: a real token manager on the real shared store. What it does depends only on what it has received, and when. So
 * `story`, a hash of all that, represents its state.
 */
export class Owner {
  readonly name: string
  readonly tokens: LoginManager
  readonly time: () => number
  readonly told: Told[] = []
  /** Replies that arrived while the owner was frozen. */
  readonly unread: { readonly text: string; readonly deliver: () => void }[] = []
  story = ''
  isCrashed = false
  isFrozen = false
  wasFrozen = false
  /** The owner cannot reach the register. */
  isCutOff = false
  /** How many messages of the owner were lost or late. */
  troubles = 0
  grant: Grant | undefined
  /** What its exchange is for. Undefined: the login's own API. */
  exchangesFor: string | undefined
  /** The id of the last message of the owner to the service. */
  exchange = ''
  /** The tokens that the store returned last: their version, and their login. */
  offered: Offered = { version: 0, login: undefined }
  /** What its last look found. */
  found: Offered | undefined
  /** The tokens that the owner returns. */
  held: Offered = { version: 0, login: undefined }
  /** The number of store steps to which the process has had responses. */
  answered = 0
  /** The number of random UUIDs that the owner has drawn. */
  drawn = 0
  sent = 0
  /** The number of exchanges and logins of the owner. */
  exchanges = 0
  #timers: Timer[] = []
  #onReset: () => void = () => undefined
  #wishes: Wish[]
  /** What users do at this owner, in this order, each at any time. */
  #acts: Act[]
  #acting = 0
  readonly #login: (person?: string) => TokenGrant
  readonly #watch: Watch
  readonly #sleptMs: () => number

  constructor(
    index: number,
    wishes: readonly Wish[],
    acts: readonly Act[],
    { register, source, login, watch, time, sleptMs, onUnavailable }: Surroundings,
  ) {
    this.name = 'ABCDE'[index]!
    this.#login = login
    this.#watch = watch
    this.#wishes = [...wishes]
    this.#acts = [...acts]
    this.time = time
    this.#sleptMs = sleptMs
    const clock: Clock = {
      monotonicNow: () => 1_000 + time(),
      // No two clocks agree, and nothing may depend on their readings (I15).
      wallNow: () => Date.UTC(2020 + index, 5, 5) + time() + sleptMs(),
      setTimer: (callback, delayMs) => this.#setTimer(callback, delayMs),
    }
    const shared = sharedStore(register, { commandTimeoutMs: COMMAND_MS, onUnavailable })
    this.tokens = createTokenManager({
      source,
      store: watched(shared as OpenableStore, this, watch),
      clock,
      random: () => 0,
      exchangeTimeoutMs: EXCHANGE_MS,
      retry: { maxAttempts: 3 },
      renewal: { keepWarm: 'never', jitter: 0, maxWaitMs: MAX_WAIT_MS },
    }) as LoginManager
    watch.listen(this)
  }

  get isDone(): boolean {
    return this.isCrashed || (this.#wishes.length === 0 && this.#acts.length === 0 && this.#acting === 0)
  }

  get canAct(): boolean {
    return !this.isCrashed && !this.isFrozen && this.#acts.length > 0
  }

  /** The access token that callers get now, if a call starts nothing. */
  get given(): string | undefined {
    const { phase, renewing } = this.tokens.status()
    return phase === 'fresh' || (phase === 'due' && renewing) ? this.tokens.peekAccessToken() : undefined
  }

  /** Whether the owner had a fault after which a step may have more effects than its response. */
  get hasTrouble(): boolean {
    return this.troubles > 0 || this.isFrozen || this.wasFrozen || this.#isLoggingIn
  }

  get #isLoggingIn(): boolean {
    return [...this.#wishes, ...this.#acts].some((wish) => wish.includes('login'))
  }

  /** When the timers are due, in the order in which they were set. */
  get timers(): string {
    return this.#timers.map(({ at }) => at).join()
  }

  /** When the next timer is due; Infinity if none can fire. */
  get nextTimerAt(): number {
    if (this.isCrashed || this.isFrozen) return Infinity
    return this.#timers.reduce((at, timer) => Math.min(at, timer.at), Infinity)
  }

  /** Removes and returns the next timer that is due now. */
  takeTimer(): (() => void) | undefined {
    const at = this.nextTimerAt
    if (at > this.time()) return undefined
    const timer = this.#timers.find((one) => one.at === at)!
    this.#timers = this.#timers.filter((one) => one !== timer)
    return timer.callback
  }

  hears(what: string): void {
    this.story = hashOf(`${this.story} ${what} ${this.time()} ${this.#sleptMs()}`)
  }

  /** The callers make one wish after the other. */
  async live(): Promise<void> {
    for (let wish = this.#wishes[0]; wish; wish = this.#wishes[0]) {
      await this.ask(wish)
      this.#wishes.shift()
    }
  }

  /** Does what comes next, now. */
  act(): void {
    const act = this.#acts.shift()!
    this.hears(act)
    for (const wish of act.split('+') as Wish[]) {
      this.#acting += 1
      void this.ask(wish).then(() => void (this.#acting -= 1))
    }
  }

  async ask(wish: Wish): Promise<Told> {
    const delayMs = UNTIL_MS[wish]
    if (delayMs !== undefined) await new Promise<void>((resolve) => this.#setTimer(resolve, delayMs))
    const told: Told = { wish, askedAt: this.time(), ...this.#watch.asks(this) }
    this.told.push(told)
    try {
      if (wish === 'renew') await this.tokens.renew()
      if (isLogin(wish)) await this.#logIn(wish.split(' ')[1])
      if (wish === 'logout') await this.#logout()
      if (wish === 'reset') await this.#reset()
      if (wish === 'look') this.#internals.followLogin?.()()
      if (wish === 'due' && this.tokens.status().phase === 'due') await this.#renewedBehind()
      if (wish === 'request') await this.#request()
      const resource = isResource(wish) ? wish : undefined
      const waits = resource !== undefined || wish === 'get' || wish === 'later' || wish === 'ended' || wish === 'days'
      told.token = waits ? await this.#tokensFor(resource).getAccessToken() : this.tokens.peekAccessToken()
      if (waits) this.#watch.served(this, told)
    } catch (error) {
      const { code, loginReason } = error as Partial<TokenError>
      told.error = code ?? String(error)
      if (code === 'ERR_LOGIN_REQUIRED') this.#watch.loginEnded(this, told, loginReason)
    }
    told.endedAt = this.time()
    return told
  }

  /** Whether callers need not wait. */
  get isServed(): boolean {
    return this.servesFor()
  }

  /** @param what Undefined: the login's own API. */
  servesFor(what?: string): boolean {
    return ['fresh', 'due'].includes(this.#tokensFor(what).status().phase)
  }

  #tokensFor(what?: string): ResourceTokens {
    return what === undefined ? this.tokens : forResource(this.tokens, { audience: what })
  }

  /** Whether a caller requires another token in any case: the API has rejected the current one, or `renew()` was called. */
  get isForced(): boolean {
    return this.told.some(({ wish, endedAt }) => ['renew', 'request'].includes(wish) && endedAt === undefined)
  }

  // As an attachment sends a request that receives a 401 (R10).
  async #request(): Promise<void> {
    const internals = this.#internals
    const begun = internals.currentGeneration?.() ?? 0
    const isOfLogin = () => begun >= (internals.firstGeneration?.() ?? 0)
    const first = this.tokens.peekAccessToken() ?? (await this.tokens.getAccessToken())
    const replace = isOfLogin() ? this.tokens.replaceAccessToken(first) : undefined
    const next = await replace?.catch((error: unknown) => {
      if (isOfLogin()) throw error
    })
    this.#watch.replayed(this, first, isOfLogin() ? (next ?? first) : undefined)
  }

  reset(): void {
    this.hears('reset')
    this.#reset().catch(() => undefined)
    this.#onReset()
  }

  async #logIn(person: string | undefined): Promise<void> {
    const grant = this.#login(person)
    const end = this.#watch.acts(this, 'login', grant.accessToken)
    await this.tokens.adopt(grant)
    end()
  }

  async #reset(): Promise<void> {
    const end = this.#watch.acts(this, 'reset')
    await this.tokens.reset()
    end()
  }

  async #logout(): Promise<void> {
    const end = this.#watch.acts(this, 'logout')
    end((await this.tokens.logout()).revoked)
  }

  get #internals(): ManagerInternals {
    return (this.tokens as unknown as Record<typeof INTERNALS, ManagerInternals>)[INTERNALS]
  }

  #renewedBehind(): Promise<void> {
    return new Promise((resolve) => {
      for (const event of ['renewed', 'renewalFailed'] as const) this.tokens.on(event, () => resolve())
      // The check before the renewal may find that the login has ended.
      this.tokens.on('loginChanged', ({ login }) => login === 'required' && resolve())
      // An outdated renewal reports its end to no caller.
      this.#onReset = resolve
      this.tokens.peekAccessToken()
    })
  }

  #setTimer(callback: () => void, delayMs: number): () => void {
    const timer = { at: this.time() + Math.max(0, delayMs), callback }
    this.#timers.push(timer)
    return () => void (this.#timers = this.#timers.filter((one) => one !== timer))
  }
}

function isResource(wish: Wish): wish is Resource {
  return wish === 'orders' || wish === 'stock'
}

function isLogin(wish: Wish): wish is Login {
  return wish.startsWith('login')
}

/** The store. `watch` sees each of its steps. */
function watched(store: OpenableStore, owner: Owner, watch: Watch): TokenStore {
  const opened: OpenableStore = {
    ...store,
    open(...given) {
      const record = store.open(...given)
      return {
        async acquire(name, seenVersion, ...more) {
          const askedAt = owner.time()
          // The manager of a resource has seen versions of its own.
          const isOfResource = more[1]?.view !== undefined
          if (!isOfResource) watch.claims(owner, seenVersion)
          const answer = await record.acquire(name, seenVersion, ...more)
          if (answer.kind === 'granted') owner.grant = { ...answer, askedAt, isUsed: false }
          watch.answered(owner, seenVersion, answer, isOfResource)
          return answer
        },
        async acquireForLogout(name, seenVersion, ...more) {
          const askedAt = owner.time()
          watch.claims(owner, seenVersion)
          const answer = await record.acquireForLogout(name, seenVersion, ...more)
          if (answer.kind === 'granted') owner.grant = { ...answer, askedAt, isUsed: false }
          watch.answered(owner, seenVersion, answer)
          return answer
        },
        async adopt(...what) {
          const stored = await record.adopt(...what)
          watch.adopted(owner, stored)
          return stored
        },
        async accept(lease, tokens) {
          const { troubles } = owner
          const stored = await record.accept(lease, tokens)
          watch.accepted(owner, lease, tokens, stored, owner.troubles > troubles)
          return stored
        },
        async release(lease, told) {
          let report: Report | undefined
          const decide: Decide = (found) => (report = typeof told === 'function' ? told(found) : told)
          const answer = await record.release(lease, decide)
          watch.released(lease, report!)
          if (answer.newer) watch.offered(owner, answer.newer, lease.view !== undefined)
          return answer
        },
        clear: (...what) => record.clear(...what),
        async check(...what) {
          const found = await record.check?.(...what)
          watch.looked(owner, what[0], found)
          return found
        },
      }
    },
  }
  return opened
}
