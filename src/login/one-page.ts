import { ChangeSignal } from './change-signal.ts'
import { withinLimit } from '../core/deadline.ts'
import { randomHex } from '../core/digest.ts'
import { internalsOf, type ManagerInternals } from '../core/manager-internals.ts'
import type { LoginManager } from '../core/token-manager.ts'
import { KEPT, type Lease, NO_TERMS } from '../core/lease.ts'
import type { OpenableStore, StoreReports, TokenRecord, TokenStore } from '../core/token-store.ts'

/** The interval of checks for a login elsewhere and for other pages, ms. */
const CHECK_MS = 1_000
/** How long an attempt to log in blocks other attempts before its page opens, ms. */
const ATTEMPT_MS = 5_000
/** How long the first page blocks other attempts, ms. Each abandoned page doubles it. */
const FIRST_PAGE_MS = 120_000
const LONGEST_PAGE_MS = 600_000

const NO_RESPONSE = { status: undefined, serviceCode: undefined, loginReason: undefined, by: undefined } as const

/** Reports nothing, because the record of the login reports the same events. */
const NO_REPORTS: StoreReports = { anomaly: () => undefined, storeUnavailable: () => undefined }

/**
 * Lets one request at a time start a user's login; the other requests wait for that login. A separate record, which never holds a token, coordinates all
 * processes: an attempt is a lease, and the open page is the cool-down that follows it.
 */
export class OnePage {
  readonly #tokens: LoginManager
  readonly #access: ManagerInternals
  /** Undefined: no other process shares the login. */
  readonly #record: TokenRecord | undefined
  readonly #owner = randomHex()
  /** What this process has in progress. Undefined: nothing, or another process has it. */
  #own: 'attempt' | 'page' | undefined
  #lease: Lease | undefined
  /** `opens()` returns false until this instant, monotonic ms. */
  #until = -Infinity
  /** The number of pages since the last login. */
  #pages = 0
  #checked: Promise<void> | undefined
  #checkedAt = -Infinity
  /** Signals that a user has logged in, or that a request may open the page again. */
  readonly #news = new ChangeSignal()

  /** @param id Names the login in the store. @param onLogin Called when a user has logged in. */
  constructor(tokens: LoginManager, store: TokenStore | undefined, id: string, onLogin = (): void => undefined) {
    this.#tokens = tokens
    const access = internalsOf(tokens)
    if (!access) throw new TypeError('tokens must be made by createTokenManager()')
    this.#access = access
    const isShared = store !== undefined && store.kind !== 'memory'
    this.#record = isShared ? (store as OpenableStore).open(`${id} page`, this.#access.clock, NO_REPORTS) : undefined
    tokens.on('loginChanged', ({ login }) => {
      if (login === 'present') this.#forget(0)
      if (login === 'present') onLogin()
      this.#news.report()
    })
  }

  /** Whether the request may start a login. If so, an attempt has begun. */
  async opens(): Promise<boolean> {
    if (this.#now < this.#until || !(await this.#acquired())) return false
    // A user may have logged in after this request was sent, which frees the lease.
    await this.#access.checkLogin?.()
    if (!this.#isLoggedIn) return true
    await this.end()
    return false
  }

  /** @param breaksPage Whether to ignore an open page. */
  async #acquired(breaksPage = false): Promise<boolean> {
    const before = this.#own
    this.#own = 'attempt'
    this.#until = this.#now + ATTEMPT_MS
    const terms = { ...NO_TERMS, breaksCoolDown: breaksPage }
    const lease = await this.#record?.acquire(this.#owner, 0, ATTEMPT_MS, terms).catch(() => undefined)
    this.#lease = lease?.kind === 'granted' ? lease : undefined
    if (this.#lease) this.#pages = this.#lease.failures
    // Without the store, this process cannot know about other processes.
    if (this.#lease || !lease) return true
    this.#own = lease.kind === 'cooling' && lease.coolDown.failures === this.#pages ? before : undefined
    this.#until = this.#now + CHECK_MS
    return false
  }

  /** Records that the page is open. A page that the user requested counts as well, unless another process has a page open. */
  async opened(): Promise<void> {
    if (this.#own !== 'attempt' && !(await this.#acquired(this.#own === 'page'))) return
    const ms = Math.min(FIRST_PAGE_MS * 2 ** this.#pages, LONGEST_PAGE_MS)
    this.#pages += 1
    this.#own = 'page'
    // With a store, checks again soon: another process may complete a login, and log out again.
    this.#until = this.#now + (this.#lease ? CHECK_MS : ms)
    const coolDown = { ms, isFirm: false, failures: this.#pages, code: 'ERR_LOGIN_REQUIRED' } as const
    const report = { ...KEPT, shared: { kind: 'cool-down', ...NO_RESPONSE, ...coolDown } } as const
    if (this.#lease) await this.#record?.release(this.#lease, report).catch(() => undefined)
  }

  /** The attempt of this process has failed. @param endsPage Whether its page is useless as well. */
  failed(endsPage: boolean): void {
    if (this.#own === 'page' && endsPage) void this.end()
    if (this.#own !== 'attempt') return
    const lease = this.#lease
    this.#forget(this.#pages)
    if (lease) void this.#record?.release(lease, KEPT).catch(() => undefined)
  }

  /** Ends the attempt and the page, for all processes. */
  async end(): Promise<void> {
    this.#forget(0)
    // If the store does not respond, the lease expires.
    await this.#record?.clear(0).catch(() => undefined)
  }

  #forget(pages: number): void {
    this.#own = undefined
    this.#lease = undefined
    this.#until = -Infinity
    this.#pages = pages
    this.#news.report()
  }

  get #now(): number {
    return this.#access.clock.monotonicNow()
  }

  get #isLoggedIn(): boolean {
    return this.#tokens.status().login === 'present'
  }

  /** Checks for a login elsewhere, at most once per `CHECK_MS`. */
  async check(): Promise<void> {
    const { checkLogin, maxWaitMs } = this.#access
    if (this.#now - this.#checkedAt >= CHECK_MS) {
      this.#checkedAt = this.#now
      this.#checked = checkLogin?.()
    }
    await this.#within(maxWaitMs, this.#checked)
  }

  /** Waits until a user may have logged in, here or elsewhere, or this request may open the page. */
  async news(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#isLoggedIn) await this.#within(Math.min(CHECK_MS, ms), this.#news.next(), signal)
    if (!this.#isLoggedIn) await this.check()
  }

  /** Waits at most this long. Never rejects. */
  async #within(ms: number, work: Promise<void> | undefined, signal?: AbortSignal): Promise<void> {
    const limit = { clock: this.#access.clock, ms, signal, holdsProcess: true, atLimit: () => undefined }
    await withinLimit(Promise.resolve(work), limit).catch(() => undefined)
  }

  close(): void {
    this.#record?.close?.()
  }
}
