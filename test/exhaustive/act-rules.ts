import type { RecordState } from '../../src/record/record-shape.ts'
import type { LoginEvents } from '../../src/login/index.ts'
import type { Owner, Told } from './owner.ts'
import { reach } from './reached.ts'
import type { Scope } from './scope.ts'
import type { TokenService } from './token-service.ts'

/** A login or a logout, starting with its call. */
interface Act {
  readonly kind: 'login' | 'logout' | 'reset'
  /** The position of the call among all acts and all changes of the record. */
  readonly calledAt: number
  /** The login that begins here. */
  readonly root?: string
  /** The login that the owner had before. Undefined: unknown outside the owner. */
  readonly had: string | undefined
  /** All logins that the owner had before. */
  readonly ever: ReadonlySet<string>
  /** The last access token that the owner returned before. */
  readonly token: string | undefined
  hasEnded?: true
}

/** What callers and listeners of one owner know of its login. */
interface Known {
  readonly acts: Act[]
  /** All logins that the owner has had. */
  readonly ever: Set<string>
  /** The login that the owner has, as its callers and listeners know. */
  now: string | undefined
  /** The last access token that the owner returned. */
  token: string | undefined
}

/**
 * An act (`adopt`, `logout`, `reset`) means what it meant at its call, whatever was requested of the record before, and whatever arrives late:
 *
 * - `last act`: no caller gets a token of another login than the one that the owner has since its last act, or of a login that came after that.
 * - `own login`: a logout erases and revokes only the login that its owner had, and it revokes that one.
 * - `kept login`: a login that no act has ended stays, and it does not become the login of another user.
 * - `order`: acts take effect in the order of their calls.
 * - `own renewal`: a renewal presents only refresh tokens of the login that its callers know.
 */
export class ActRules {
  readonly #service: TokenService
  readonly #hasFaults: boolean
  readonly #fail: (rule: string, what: string) => void
  readonly #known = new Map<string, Known>()
  /** When each login was first stored, and by which owner. */
  readonly #stored = new Map<string, { readonly at: number; readonly by: string }>()
  /** When the record was cleared, and by which owner. */
  readonly #cleared: { readonly at: number; readonly by: string }[] = []
  /** The register may drop the record a day after the expiry of its refresh token. */
  readonly #mayEnd: boolean
  #places = 0
  #isLost = false
  #isRestored = false

  constructor(service: TokenService, scope: Scope, fail: (rule: string, what: string) => void) {
    this.#service = service
    this.#hasFaults = scope.most > 0
    this.#mayEnd = scope.owners.flat().includes('days')
    this.#fail = fail
  }

  /** The record was lost, or is an older one. */
  isLost(how: 'flush' | 'restore'): void {
    this.#isLost = true
    this.#isRestored ||= how === 'restore'
  }

  /** An owner receives this command now. @param token The access token of a login. @returns a function that records its success */
  begins(owner: Owner, kind: Act['kind'], token?: string): () => void {
    const known = this.#of(owner)
    const root = token === undefined ? undefined : this.#service.rootOf(token)
    const { now: had, token: before } = known
    const ever = new Set(known.ever)
    const act: Act = { kind, calledAt: ++this.#places, had, ever, token: before, ...(root !== undefined && { root }) }
    known.acts.push(act)
    known.now = this.#nameOf(root)
    known.token = token
    if (known.now !== undefined) known.ever.add(known.now)
    return () => void (act.hasEnded = true)
  }

  /** What the owner returns to its callers now, if anything. */
  sees(owner: Owner, token: string | undefined, login: string | undefined): void {
    const known = this.#of(owner)
    if (login === 'required' && this.#keeps(owner)) this.#fail('kept login', `${owner.name} has lost its login`)
    // After a logout elsewhere, too, a new caller belongs to no login.
    if (login === 'required') known.now = undefined
    if (token === undefined) return
    this.#serves(owner, token)
    known.now = this.#service.loginOf(token)
    known.token = token
    if (known.now !== undefined) known.ever.add(known.now)
  }

  /** The login to which a new caller belongs, as far as the caller can know. */
  loginAt(owner: Owner): string | undefined {
    return this.#of(owner).now
  }

  /** Whether the login of this wish has been followed by another act. */
  isOver(owner: Owner, { acts = 0 }: Told): boolean {
    return this.actsOf(owner) > acts + 1
  }

  /** The number of acts. */
  actsOf(owner: Owner): number {
    return this.#of(owner).acts.length
  }

  /** @param asked The result of `loginAt` at the call. */
  got(owner: Owner, token: string, asked: string | undefined): void {
    const login = this.#service.loginOf(token)
    if (asked !== undefined && login !== asked)
      this.#fail('R10', `a caller of ${owner.name} asked in the login ${asked}, and gets ${token} of ${login}`)
  }

  /** A caller after the last act got the error that a login is required. */
  isRefused(owner: Owner): void {
    if (this.#keeps(owner)) this.#fail('kept login', `a caller of ${owner.name} is told that a login is required`)
  }

  hears(owner: Owner, { login, by }: LoginEvents['loginChanged']): void {
    // A manager reports its own acts a little later, when the next act may have begun.
    if (by === 'here') return
    if (this.#keeps(owner)) this.#fail('kept login', `${owner.name} hears ${login}, ${by}`)
    this.#of(owner).now = undefined
  }

  presents(owner: Owner, refreshToken: string): void {
    const { now } = this.#of(owner)
    const login = this.#service.loginOfRefresh(refreshToken)
    if (now !== undefined && login !== now)
      this.#fail('own renewal', `${owner.name} has the login ${now}, and presents ${refreshToken} of ${login}`)
  }

  revokes(owner: Owner, refreshToken: string): void {
    const { acts, ever } = this.#of(owner)
    const login = this.#service.loginOfRefresh(refreshToken)
    if (login === undefined || ever.has(login)) return
    if (acts.filter(isEnd).every(({ had }) => had !== undefined))
      this.#fail('own login', `${owner.name} revokes ${refreshToken} of ${login}, which it never had`)
  }

  /** The last logout of an owner has ended. */
  hasLoggedOut(owner: Owner, token: string | undefined, isRevoked: boolean): void {
    const isLive = token !== undefined && this.#service.isLive(token)
    if (isLive && (isRevoked || !this.#hasFaults))
      this.#fail('own login', `${owner.name} has logged out (revoked: ${isRevoked}), and the pair of ${token} is good`)
  }

  /** The access token that the owner returned before its last act. */
  tokenBefore(owner: Owner): string | undefined {
    return this.#of(owner).acts.at(-1)?.token
  }

  /** The owner has replaced the state of the register. */
  replaced(owner: Owner, before: RecordState | undefined, after: RecordState): void {
    const place = ++this.#places
    const { acts } = this.#of(owner)
    const old = before?.tokens && this.#service.rootOf(before.tokens.accessToken)
    const root = after.tokens && this.#service.rootOf(after.tokens.accessToken)
    const isCleared = after.clearedFence > (before?.clearedFence ?? 0)
    if (isCleared && !after.tokens) {
      this.#cleared.push({ at: place, by: owner.name })
      if (old !== undefined) this.#erases(owner, old)
    }
    if (root === undefined) return
    if (this.#stored.has(root)) {
      this.#overwrites(owner, old, root)
      return
    }
    this.#stored.set(root, { at: place, by: owner.name })
    const own = acts.findIndex((act) => act.root === root)
    const isPassed = (act: Act) => act.hasEnded === true || (act.root !== undefined && this.#stored.has(act.root))
    if (own >= 0 && !this.#isLost && acts.slice(own + 1).some(isPassed))
      this.#fail('order', `${owner.name} stores the login ${root} after what it did later`)
  }

  get key(): string {
    const known = [...this.#known].map(
      ([name, { acts, ever, now, token }]) =>
        `${name} ${acts.map(({ kind, calledAt, root, ever: before, hasEnded }) => [kind, calledAt, root, before.size, hasEnded]).join()} ${[...ever].sort().join()} ${now} ${token}`,
    )
    const events = [...this.#stored, ...this.#cleared.map((one) => ['', one] as const)]
    return [known.sort(), events.map(([root, { at, by }]) => [root, at, by]), this.#isLost].join(';')
  }

  #of({ name }: Owner): Known {
    const known = this.#known.get(name) ?? { acts: [], ever: new Set(), now: undefined, token: undefined }
    this.#known.set(name, known)
    return known
  }

  #nameOf(root: string | undefined): string | undefined {
    return root === undefined ? undefined : this.#service.loginOf(`access-${root}`)
  }

  #serves(owner: Owner, token: string): void {
    const last = this.#of(owner).acts.at(-1)
    if (!last || this.#isLost) return
    const login = this.#service.loginOf(token)
    const root = this.#service.rootOf(token) ?? ''
    const stored = this.#stored.get(root)
    // Its own earlier login did not come later, however late the record received it.
    const storedAt = stored && stored.by !== owner.name ? stored.at : 0
    if (isEnd(last)) {
      if (login !== undefined && last.ever.has(login) && storedAt < last.calledAt)
        this.#fail('last act', `${owner.name} gives ${token} after its ${last.kind}`)
      return
    }
    const began = Math.max(last.calledAt, this.#stored.get(last.root ?? '')?.at ?? 0)
    if (login !== this.#nameOf(last.root) && storedAt < began)
      this.#fail('last act', `${owner.name} gives ${token} of ${login} after the login ${last.root}`)
    else reach(login === this.#nameOf(last.root) ? 'an act: its login' : 'an act: a later login elsewhere')
  }

  /** Whether the login that the owner has since its last act is still in force. */
  #keeps(owner: Owner): boolean {
    const last = this.#of(owner).acts.at(-1)
    if (last?.root === undefined || this.#isLost || this.#mayEnd || this.#service.refusedRoots.size > 0) return false
    const events = [...this.#stored.values(), ...this.#cleared]
    return events.every(({ at, by }) => by === owner.name || at < last.calledAt)
  }

  /** An owner has renewed, or has stored again, what was stored before. */
  #overwrites(owner: Owner, old: string | undefined, root: string): void {
    const [before, after] = [this.#nameOf(old), this.#nameOf(root)]
    // After a loss, an owner that has seen the later login writes it back (R11).
    const isLater = (this.#stored.get(root)?.at ?? 0) > (this.#stored.get(old ?? '')?.at ?? Infinity)
    if (before !== undefined && before !== after && !this.#isRestored && !(this.#isLost && isLater))
      this.#fail('own login', `${owner.name} writes tokens of ${after} over the login ${before}`)
  }

  /** A `clear` of this owner has removed the tokens of a login from the record. */
  #erases(owner: Owner, root: string): void {
    const { acts } = this.#of(owner)
    const login = this.#nameOf(root)
    const began = acts.findLastIndex((act) => act.root === root)
    const ends = acts.slice(began + 1).filter(isEnd)
    if (ends.length === 0) this.#fail('order', `${owner.name} erases the login ${root}, which came after the logout`)
    else if (began < 0 && ends.every(({ had }) => had !== undefined && had !== login))
      this.#fail('own login', `${owner.name} erases ${root}, and has never had that login`)
    else reach('an act: a logout erases its login')
  }
}

function isEnd({ kind }: Act): boolean {
  return kind !== 'login'
}
