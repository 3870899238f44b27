import type { RecordState } from '../../src/record/record-shape.ts'
import { continues } from '../../src/record/identity.ts'
import type { LeaseResult, Lease, CheckResult, Report } from '../../src/core/lease.ts'
import type { NewTokens, StoredTokens } from '../../src/core/stored-tokens.ts'
import { ActRules } from './act-rules.ts'
import { Knowledge } from './knowledge.ts'
import { LoginRules } from './login-rules.ts'
import { EXCHANGE_MS, MAX_WAIT_MS, type Owner, type Told } from './owner.ts'
import { reach } from './reached.ts'
import { RestoreRules } from './restore-rules.ts'
import { ACCESS_MS, type TokenService } from './token-service.ts'
import type { Scope } from './scope.ts'

/** How a presentation of a refresh token ended for its owner. open: it has not ended yet. */
type Ending = 'open' | 'accepted' | 'refused' | 'unknown' | 'throttled' | 'failed' | 'odd'

export interface Presentation {
  readonly owner: string
  readonly at: number
  endedAt?: number
  /** The record held it in doubt. */
  readonly wasDoubted: boolean
  ending: Ending
  /** The record knows that the refresh token is spent: the owner has reported it. */
  isSettled?: boolean
}

/** Finds what must never happen. Judges from outside: what owners request, what they receive, what the register holds. */
export class Watch {
  /** The first violation. */
  violation: string | undefined
  readonly #service: TokenService
  readonly #time: () => number
  /** The presentations by refresh token. */
  readonly #presentations = new Map<string, Presentation[]>()
  /** Fences of the token sets that were in the register, by access token. */
  readonly #stored = new Map<string, number>()
  readonly #scope: Scope
  /** What the record can know, if an obtain ends earlier sessions. */
  readonly knowledge = new Knowledge()
  /** The refresh token that each owner presented last. */
  readonly #presented = new Map<string, string>()
  /** Rejected refresh tokens whose rejection the record could not explain. */
  readonly #unexplained = new Set<string>()
  readonly #explained = new Set<string>()
  /** Logins and obtains whose token sets were stored, and those of them that a `clear` or an `adopt` has ended. */
  readonly #roots = new Set<string>()
  readonly #endedRoots = new Set<string>()
  /** By its fingerprint: whether the report of the owner that suspects it may have been lost. */
  readonly #suspected = new Map<string, boolean>()
  /** `clear` has forgotten the leases of all fences up to this one. */
  #clearedFence = 0
  /** Whether the clock of the register was stepped. */
  isStepped = false
  /** Whether the machine of all owners has slept: a token may have expired in its sleep. */
  hasSlept = false
  #isRestored = false
  /** What logins may and may not do. Undefined: the source can obtain. */
  readonly #login: LoginRules | undefined
  readonly #acts: ActRules | undefined
  readonly #restore: RestoreRules | undefined

  constructor(service: TokenService, time: () => number, scope: Scope) {
    this.#scope = scope
    this.#service = service
    this.#time = time
    if (scope.grant !== 'login') return
    this.#login = new LoginRules(service, scope, (what) => this.fail('R8', what))
    this.#acts = new ActRules(service, scope, (rule, what) => this.fail(rule, what))
    this.#restore = new RestoreRules((what) => this.fail('R11', what))
  }

  fail(rule: string, what: string): void {
    this.violation ??= `${rule}: ${what}`
  }

  listen(owner: Owner): void {
    const { name, tokens } = owner
    tokens.on('suspicious', ({ evidence, severity, fingerprint }) => {
      const isExcused = this.#scope.hasLimits !== false && this.#unexplained.has(this.#presented.get(name) ?? '')
      if ((evidence === 'unexplained' || severity === 'high') && !isExcused)
        this.fail('I7', `${name} reports theft where there is none (${evidence}, ${severity})`)
      // The first owner's report to the record may have been lost.
      if (this.#suspected.get(fingerprint) === false)
        this.fail('I7', `a second suspicion of one refresh token, by ${name}`)
      this.#suspected.set(fingerprint, owner.troubles > 0)
    })
    tokens.on('renewed', () => {
      const { offered, held } = owner
      if (offered.version < held.version && offered.login === held.login)
        this.fail('I4', `${name} has held version ${held.version}, and adopts ${offered.version}`)
      owner.held = offered
    })
    tokens.on('loginChanged', (change) => {
      this.#acts?.hears(owner, change)
      // After a look, and no renewal: the versions of another login cannot be compared with those before it.
      if (change.by === 'elsewhere' && owner.found && owner.found.login !== owner.held.login)
        owner.offered = owner.held = owner.found
      owner.found = undefined
    })
    for (const event of ['retry', 'anomaly', 'storeUnavailable', 'suspicionSettled', 'renewalFailed'] as const)
      tokens.on(event, () => undefined)
  }

  /** The record is lost, with all its knowledge. */
  isLost(how: 'flush' | 'restore'): void {
    this.#isRestored ||= how === 'restore'
    this.knowledge.isLost()
    this.#login?.isLost()
    this.#restore?.isLost(how)
    this.#acts?.isLost(how)
    this.#endedRoots.clear()
  }

  /** The register executes a read of an owner. */
  reads(owner: Owner): void {
    this.#restore?.isRead(owner, this.#time())
  }

  claims(owner: Owner, seenVersion: number): void {
    if (seenVersion < owner.held.version)
      this.fail('I4', `${owner.name} has held version ${owner.held.version}, and goes on with ${seenVersion}`)
  }

  released({ tokens }: Lease, { fate, shared }: Report): void {
    const last = this.#presentations.get(tokens?.refreshToken ?? '')?.at(-1)
    if (last && fate === 'dead') last.isSettled = true
    reach(`fate ${fate}`)
    if (shared) reach(`shared ${shared.kind}`)
  }

  loginBegins(refreshToken: string): void {
    this.knowledge.adopts(refreshToken)
    this.#login?.begins()
  }

  /** An owner receives this command now. @param token The access token of a login. @returns a function that records its success */
  acts(owner: Owner, kind: 'login' | 'logout' | 'reset', token?: string): (isRevoked?: boolean) => void {
    if (kind !== 'login') this.#login?.isLoggedOut()
    const end = this.#acts?.begins(owner, kind, token)
    const held = this.#acts?.tokenBefore(owner)
    return (isRevoked = false) => {
      end?.()
      if (kind === 'logout') this.#acts?.hasLoggedOut(owner, held, isRevoked)
    }
  }

  revoked(owner: Owner, refreshToken: string): void {
    this.#acts?.revokes(owner, refreshToken)
  }

  /** The tokens of a login are stored. */
  adopted(owner: Owner, tokens: StoredTokens): void {
    // The manager uses the tokens that it has received, and not these.
    owner.offered = { version: tokens.version, login: this.#service.loginOf(tokens.accessToken) }
    owner.held = owner.offered
  }

  /** The owner had a fault. */
  sees(owner: Owner): void {
    this.#acts?.sees(owner, owner.given, owner.tokens.status().login)
  }

  /** A caller needs a token. */
  asks(owner: Owner): Pick<Told, 'login' | 'acts'> {
    return this.#acts ? { login: this.#acts.loginAt(owner), acts: this.#acts.actsOf(owner) } : {}
  }

  served(owner: Owner, { wish, token, login }: Told): void {
    if (token === undefined) return
    this.#acts?.got(owner, token, login)
    const what = this.#service.whatIs(token)
    const asked = wish === 'orders' || wish === 'stock' ? wish : undefined
    if (what !== asked) this.fail('F418', `a caller of ${owner.name} asked for ${asked}, and gets ${token} for ${what}`)
  }

  /** A caller got the error that a login is required. */
  loginEnded(owner: Owner, told: Told, reason: string | undefined): void {
    if (told.acts === this.#acts?.actsOf(owner)) this.#acts?.isRefused(owner)
    this.#login?.ended(owner, this.#time(), reason)
    this.#restore?.ended(owner, reason, this.#service.refusedRoots.size > 0)
  }

  looked(owner: Owner, seenVersion: number, found: CheckResult | undefined): void {
    reach(`look ${found?.kind ?? 'nothing'}`)
    this.#restore?.hasStepped(owner)
    if (found?.kind !== 'newer') return
    this.#isNewer(owner, seenVersion, found.tokens)
    this.#believes(owner, found.tokens)
    owner.found = { version: found.tokens.version, login: this.#service.loginOf(found.tokens.accessToken) }
  }

  /** After a loss versions start over: only those of one login can be compared. */
  #isNewer({ name, held }: Owner, seenVersion: number, { version, accessToken }: StoredTokens): void {
    const isSame = continues({ name: held.login }, 'replaced', { name: this.#service.loginOf(accessToken) })
    if (version <= seenVersion && isSame) this.fail('I4', `${name} has seen ${seenVersion}, and adopts ${version}`)
  }

  /** A request received a 401. @param next The token of its replay; undefined: its login has ended, and it is not replayed. */
  replayed({ name }: Owner, first: string, next: string | undefined): void {
    if (next === undefined) reach('R10: a request is not replayed')
    else if (!continues({ name: this.#service.loginOf(first) }, 'adopted', { name: this.#service.loginOf(next) }))
      this.fail('R10', `a request of ${name} with ${first} is replayed with ${next}, of another login`)
    else reach('R10: a request is replayed')
  }

  answered(owner: Owner, seenVersion: number, answer: LeaseResult, isOfResource = false): void {
    reach(`lease ${answer.kind}`)
    this.#restore?.hasStepped(owner)
    if (answer.kind === 'granted') reachGrant(answer)
    if (answer.kind === 'newer' && !isOfResource) this.#isNewer(owner, seenVersion, answer.tokens)
    if (answer.kind === 'newer') this.offered(owner, answer.tokens, isOfResource)
    if (answer.kind === 'busy' && answer.remainingMs > EXCHANGE_MS * 1.5 + 3_000)
      this.fail('R2', `a lease is valid for ${answer.remainingMs} ms more`)
  }

  /** An exchange starts. @param refreshToken Undefined for an obtain. */
  presents(owner: Owner, refreshToken: string | undefined): Presentation | undefined {
    const { name, grant } = owner
    if (!grant || grant.isUsed) this.fail('I2', `${name} calls the service without a grant`)
    else grant.isUsed = true
    if (refreshToken === undefined) return undefined
    this.#presented.set(name, refreshToken)
    this.#acts?.presents(owner, refreshToken)
    if (refreshToken !== grant?.tokens?.refreshToken) this.fail('I2', `${name} presents what it was not granted`)
    if (grant && !grant.presentable) this.fail('I5', `${name} presents a refresh token that is retired or in doubt`)
    if (grant?.isPrivate && this.knowledge.isStored(refreshToken))
      this.fail('I11', `${name} presents a shared refresh token while it cannot reach the store`)
    const earlier = this.#presentations.get(refreshToken) ?? []
    const failures = earlier.filter(({ ending }) => ending === 'failed').length
    const { graceMs = 0 } = this.#scope
    const now = this.#time()
    const spent = earlier.find(({ ending }) => ending !== 'throttled' && (ending !== 'failed' || graceMs > 0))
    const isAllowed = spent ? grant !== undefined && grant.askedAt - spent.at < graceMs : failures < 3
    this.#restore?.presents(owner, earlier.at(-1), now)
    if (this.#login) this.#login.presents(owner, earlier, now, this.isStepped)
    else if (!isAllowed)
      this.fail(
        'I1',
        `${name} presents a refresh token again that ${earlier.map(({ owner, ending }) => `${owner} presented (${ending})`).join(', ')}`,
      )
    const presentation: Presentation = { owner: name, at: now, wasDoubted: grant?.isDoubted === true, ending: 'open' }
    this.#presentations.set(refreshToken, [...earlier, presentation])
    return presentation
  }

  /** An exchange has ended. @param ending As its owner knows it. */
  ended(presentation: Presentation | undefined, ending: Ending): void {
    // A result that arrives after the owner's timeout tells it nothing.
    if (presentation?.ending === 'open') Object.assign(presentation, { ending, endedAt: this.#time() })
  }

  accepted(owner: Owner, lease: Lease, tokens: NewTokens, stored: StoredTokens, hadTrouble: boolean): void {
    this.offered(owner, stored, lease.view !== undefined)
    if (!hadTrouble) this.knowledge.settles(owner.exchange)
    const last = this.#presentations.get(lease.tokens?.refreshToken ?? '')?.at(-1)
    if (last?.owner === owner.name && !hadTrouble) last.isSettled = true
    if (lease.isPrivate || hadTrouble || lease.fence <= this.#clearedFence) return
    const fence = this.#stored.get(stored.accessToken)
    const isOurs = stored.accessToken === tokens.accessToken
    if (!isOurs) reach('R3: a later lease wins')
    if (fence === undefined) this.fail('I3', `${owner.name} has a token set that is stored nowhere`)
    else if (!isOurs && fence < lease.fence)
      this.fail(
        'I3',
        `the token set of ${owner.name} (lease ${lease.fence}) gave way to one whose lease is older (${fence})`,
      )
  }

  /** A command of `owner` has replaced the state of the register. @param isRepeated The command has taken effect before. */
  replaced(
    owner: Owner,
    before: RecordState | undefined,
    after: RecordState,
    { now, isRepeated }: { now: number; isRepeated: boolean },
  ): void {
    const { tokens, lease } = after
    // A create that is repeated after a flush restores a lease only: the register cannot distinguish it from a new create.
    if (isRepeated && (before || tokens)) this.fail('I16', `a command of ${owner.name} took effect twice`)
    if (before && after.fence < before.fence) this.fail('fence', `it falls from ${before.fence} to ${after.fence}`)
    if (before && after.version < before.version)
      this.fail('I4', `the version falls from ${before.version} to ${after.version}`)
    this.#clearedFence = Math.max(this.#clearedFence, after.clearedFence)
    const had = before?.lease
    const isCleared = after.clearedFence > (before?.clearedFence ?? 0)
    const hasRunOut = had && now >= had.at + had.ms
    const isTouched = had && (lease?.fence !== had.fence || (lease.settled && !had.settled))
    if (isTouched && !isCleared && !hasRunOut && !this.isStepped && had.owner !== `${owner.name}-0`)
      this.fail('I6', `${owner.name} completes a lease of ${had.owner}`)
    const isDoubted = before?.tokens?.retired && before.tokens.refreshToken === tokens?.refreshToken
    if (isDoubted && !tokens?.retired)
      this.fail('I8', `${owner.name} ends the doubt of a refresh token without a new token set`)
    if (tokens?.refreshToken !== undefined) this.knowledge.stores(tokens.refreshToken)
    if (tokens) this.#login?.isStored(this.#time())
    this.#acts?.replaced(owner, before, after)
    this.knowledge.learns(owner.name, after)
    this.#explain(owner)
    // No owner goes back to an older record than it has seen, even if that ends the login (I4).
    // If the API has rejected the access token, and the service its refresh token, no caller gets that access token again (F206).
    const isRefused = this.#service.refusedRoots.size > 0
    if (before?.tokens && !tokens && !isCleared && this.#login && !this.#isRestored && !isRefused)
      this.fail('login', `${owner.name} drops the tokens of a login`)
    const root = tokens && this.#service.rootOf(tokens.accessToken)
    if (isCleared) for (const ended of this.#roots) if (ended !== root) this.#endedRoots.add(ended)
    if (root === undefined) return
    if (this.#endedRoots.has(root)) this.fail('login', `${owner.name} brings back a session that was forgotten`)
    this.#roots.add(root)
    for (const token of [tokens!.accessToken, ...slotsIn(after)])
      if (!this.#stored.has(token)) this.#stored.set(token, tokens!.fence)
    if (tokens!.accessToken !== before?.tokens?.accessToken && before && after.version <= before.version)
      this.fail('version', `a new token set does not raise it from ${before.version}`)
  }

  /** An owner has written a rejection into the record. The owner learns the reason now, or never. */
  #explain({ name }: Owner): void {
    const refreshToken = this.#presented.get(name) ?? ''
    if (this.#presentations.get(refreshToken)?.at(-1)?.ending !== 'refused') return
    if (this.#explained.has(refreshToken)) return
    this.#explained.add(refreshToken)
    if (!this.knowledge.explains(name, refreshToken, this.#service.endedBy(refreshToken)))
      this.#unexplained.add(refreshToken)
  }

  /** Judges how a wish ended. If `endedAt` is undefined, the run was over first. */
  judge(owner: Owner, told: Told): void {
    const { wish, askedAt, endedAt, token, error } = told
    const { name } = owner
    if (endedAt === undefined) {
      this.fail('progress', `${name} never learns what became of its ${wish}`)
      return
    }
    if (!owner.wasFrozen && endedAt - askedAt > MAX_WAIT_MS)
      this.fail('I10', `${name} waits for ${endedAt - askedAt} ms, longer than maxWaitMs`)
    // An owner that was frozen while it stored a login must check for a logout before it returns the token (F278).
    const isLate = (owner.wasFrozen || this.hasSlept) && wish.startsWith('login')
    const asksForNone = ['due', 'logout', 'reset', 'look', 'request'].includes(wish)
    const mayHaveNone = asksForNone || isLate || this.#acts?.isOver(owner, told)
    const isTold = token !== undefined || error?.startsWith('ERR_') === true || mayHaveNone
    if (!isTold) this.fail('progress', `${name} has neither a token nor an error of ours (${error})`)
  }

  get key(): string {
    const presented = [...this.#presentations].map(
      ([token, list]) =>
        `${token} ${list.map(({ at, endedAt, ending, isSettled }) => (this.#scope.graceMs || this.#login ? [at, endedAt, ending, isSettled] : ending)).join()}`,
    )
    return [
      presented.sort(),
      [...this.#presented].sort(),
      [...this.#stored].sort(),
      [...this.#suspected].sort().join(),
      this.#scope.obtainEnds ? [this.knowledge.key, ...this.#unexplained, '', ...this.#explained] : '',
      [...this.#endedRoots].sort(),
      this.#clearedFence,
      this.#login?.key,
      this.#acts?.key,
      this.#restore?.key,
    ].join(' ')
  }

  /**
   * An owner may now use these tokens. The owner must not believe them valid for longer than they are, or than a whole
   * lifetime if the clock was stepped.
   */
  offered(owner: Owner, tokens: StoredTokens, isOfResource = false): void {
    if (!isOfResource) owner.offered = { version: tokens.version, login: this.#service.loginOf(tokens.accessToken) }
    // The record has no token of the resource yet.
    if (!isOfResource || tokens.accessToken !== '') this.#believes(owner, tokens)
  }

  #believes({ name }: Owner, { accessToken, accessRemainingMs }: StoredTokens): void {
    const issuedAt = this.#service.issuedAt(accessToken)
    if (issuedAt === undefined) {
      this.fail('I3', `${name} serves what nobody has issued`)
      return
    }
    if (accessRemainingMs > ACCESS_MS)
      this.fail('R2', `${name} believes a token for ${accessRemainingMs} ms, whose lifetime is ${ACCESS_MS} ms`)
    const truthMs = issuedAt + ACCESS_MS - this.#time()
    if (accessRemainingMs > truthMs && !this.isStepped)
      this.fail('R2', `${name} believes a token for ${accessRemainingMs} ms that lives for ${truthMs} ms`)
  }
}

/** The access tokens of resources in a record. */
function slotsIn({ resources }: RecordState): string[] {
  const { slots = {} } = (resources ?? {}) as { slots?: Readonly<Record<string, { accessToken: string }>> }
  return Object.values(slots).map(({ accessToken }) => accessToken)
}

function reachGrant({ isDoubted, isLastResort, overlapped, missing, isPrivate, unclear }: Lease): void {
  if (isDoubted) reach('granted, in doubt')
  if (isLastResort) reach('R8: granted as a last resort')
  if (overlapped) reach('R4: granted, overlapped')
  if (isPrivate) reach('granted, private')
  if (unclear) reach('granted, unclear')
  if (missing) reach(`granted, missing: ${missing}`)
}
