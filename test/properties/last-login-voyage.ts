import { internalsOf } from '../../src/core/manager-internals.ts'
import { createTokenManager, isTokenError, type TokenGrant } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { WatchedRegister } from '../support/memory-register.ts'
import type { LastLoginAct, LastLoginCourse } from './last-login-course.ts'
import { LastLoginService, type Session } from './last-login-service.ts'
import { Promises } from './promises.ts'
import { TroubledRegister } from './troubled-register.ts'
import { Turns } from './turns.ts'

/** The results of courses. */
export interface Stood {
  logins: number
  nobody: number
  /** Courses in which the store did not receive an act at once. */
  untold: number
  /** Promised logins that a later act has superseded. */
  overtaken: number
}
export const nothingStood = (): Stood => ({ logins: 0, nobody: 0, untold: 0, overtaken: 0 })

/** A login that was promised. */
interface Promised {
  readonly settle: (brings: TokenGrant | undefined) => void
  readonly fail: (reason: Error) => void
  /** A later act of the same manager has taken effect. */
  isOvertaken: boolean
}

interface Place {
  readonly tokens: LoginManager
  readonly way: TroubledRegister
  /** The login that this manager has, as its application knows. 'unknown': it has not returned a token of it yet. */
  has: Session | 'unknown' | undefined
  /** In the order of their calls. */
  open: Promised[]
}

/** Acts are further apart than any step is late, so the order of two acts is certain. */
const APART_MS = 5_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** @throws naming the manager that does not have the last login, when all is well again and every manager has checked. */
export async function travelToLastLogin(course: LastLoginCourse, unhandled: unknown[], stood: Stood) {
  const { acts } = course
  const voyage = new LastLoginVoyage(course, unhandled, stood)
  await voyage.begin()
  for (const act of acts) await voyage.perform(act)
  await voyage.end()
}

class LastLoginVoyage {
  readonly #clock = manualClock()
  readonly #promises = new Promises(() => this.#clock.monotonicNow())
  readonly #service = new LastLoginService()
  readonly #places: readonly Place[]
  readonly #turns: Turns
  readonly #stood: Stood
  /** The logins that may stay. There is more than one if the same user has logged in twice, and one of the two logins ends. */
  #last: readonly (Session | undefined)[] = [undefined]
  #isUntold = false
  /** Where a user logged in last. */
  #lastAt: Place | undefined
  /** Whether the manager there had seen the login before. */
  #hadSeen = false
  /** Steps of the store take no time. */
  readonly #isQuick: boolean
  /** The last act has not been followed by a pause yet. */
  #open: { readonly place: Place; readonly soonMs: number | undefined } | undefined
  /** How far the clock of the register is behind. */
  #behindMs = 0

  constructor({ delays, onUnavailable }: LastLoginCourse, unhandled: unknown[], stood: Stood) {
    this.#isQuick = delays.mostMs === 0
    this.#turns = new Turns(this.#clock, this.#promises, unhandled)
    this.#stood = stood
    const clock = this.#clock
    const register = new WatchedRegister({ wallNow: () => clock.wallNow() - this.#behindMs })
    this.#places = [0, 1, 2].map((n) => {
      const way = new TroubledRegister(register, clock, { ...delays, seed: delays.seed + n })
      const store = sharedStore(way, { onUnavailable })
      const tokens = createTokenManager({ source: this.#service, store, clock, random: () => 0.3 })
      const place: Place = { tokens, way, has: undefined, open: [] }
      tokens.on('loginChanged', ({ login }) => (place.has = login === 'present' ? 'unknown' : undefined))
      tokens.on('anomaly', () => undefined)
      tokens.on('storeUnavailable', () => undefined)
      return place
    })
  }

  /** Every manager learns that there is no login. A manager without this report would end the stored login (F362). */
  async begin(): Promise<void> {
    await this.#everybodyAsks()
  }

  async perform(act: LastLoginAct): Promise<void> {
    await this.#pauseBefore(act)
    if (act.act === 'advance') return this.#turns.advance(act.ms)
    if (act.act === 'set back') return this.#setBack(act.backMs)
    const place = this.#places[act.at]!
    const { tokens } = place
    this.#peek()
    switch (act.act) {
      case 'store':
        place.way.is = act.is
        return
      case 'login':
        place.way.is = act.store ?? place.way.is
        this.#login(place, act, (grant) => tokens.adopt(grant))
        this.#isUntold ||= place.way.is !== 'well'
        this.#open = { place, soonMs: act.soonMs }
        return
      case 'promise':
        this.#promise(place)
        return this.#turns.turn()
      case 'settle':
        return this.#settle(place, act)
      case 'logout':
      case 'reset':
        if (act.backMs !== undefined) await this.#setBack(act.backMs)
        if (act.checks) await this.#check(place)
        this.#overtake(place, place.open.length)
        this.#ends(place.has)
        ignored(tokens[act.act]())
        if (act.twice) ignored(tokens[act.act]())
        place.has = undefined
        return this.#acted(place)
      case 'renew':
        ignored(tokens.renew())
        return this.#turns.turn()
      case 'ask':
        ignored(tokens.getAccessToken())
        return this.#turns.turn()
      case 'look':
      case 'follow': {
        const stop = internalsOf(tokens)?.followLogin?.()
        if (act.act === 'look') stop?.()
        return this.#turns.turn()
      }
    }
  }

  /** Acts of one manager have an order, however close; so has an act of a manager that has seen the last login. Others are apart. */
  async #pauseBefore(act: LastLoginAct): Promise<void> {
    const last = this.#open
    if (!last) return
    this.#open = undefined
    const isAct = act.act === 'login' || act.act === 'logout' || act.act === 'reset'
    const place = isAct ? this.#places[act.at]! : undefined
    if (place === last.place && last.soonMs !== undefined) return this.#turns.advance(last.soonMs)
    if (
      act.act === 'login' &&
      act.checks &&
      place &&
      this.#isQuick &&
      [place, last.place].every(({ way }) => way.is === 'well')
    ) {
      await this.#turns.turn()
      await this.#check(place)
      if (place.has === this.#last[0]) return
    }
    await this.#turns.advance(APART_MS)
  }

  /** The application notices a login, and uses its token. */
  async #check({ tokens }: Place): Promise<void> {
    internalsOf(tokens)?.followLogin?.()()
    await this.#turns.advance(this.#isQuick ? 0 : 200)
    ignored(tokens.getAccessToken())
    await this.#turns.advance(this.#isQuick ? 0 : 200)
    this.#peek()
  }

  /**
   * Only if no manager may still report a login whose instant would count from the wrong clock. That of the last login need not count: if its manager had seen
   * the login before, or if the clock is back by more than the whole course.
   */
  async #setBack(backMs: number): Promise<void> {
    const isCertain = this.#hadSeen || backMs === HOUR
    const others = this.#places.filter((place) => !isCertain || place !== this.#lastAt)
    if (others.some(({ way }) => way.is !== 'well')) return
    for (const { tokens } of others) internalsOf(tokens)?.followLogin?.()()
    await this.#turns.advance(APART_MS)
    this.#behindMs += backMs
    // Managers that do not hold its token yet cannot know for how long it is valid.
    this.#last = this.#last.flatMap((last) => (last?.isShort ? [last, undefined] : [last]))
  }

  /** When all is well again, and every manager has checked, the last login stays, everywhere. */
  async end(): Promise<void> {
    await this.#pauseBefore({ act: 'advance', ms: 0 })
    for (const { way } of this.#places) way.is = 'well'
    for (const { open } of this.#places) for (const promised of open) promised.settle(undefined)
    for (let round = 0; round < 3; round += 1) {
      await this.#everybodyAsks()
      await this.#turns.advance(2 * MINUTE)
    }
    const served = await this.#everybodyAsks()
    const may = new Set<string>(this.#last.map((session) => session?.who ?? 'nobody'))
    for (const [at, who] of served.entries())
      this.#promises.must(may.has(who), `manager ${at} serves ${[...may].join(' or ')}, who came last, not ${who}`)
    const mayDiffer = this.#last.includes(undefined) && this.#last.some((last) => last?.isShort)
    this.#promises.must(
      mayDiffer || new Set(served).size === 1,
      `all managers serve the same user, not ${served.join(', ')}`,
    )
    if (this.#last[0]) this.#stood.logins += 1
    else this.#stood.nobody += 1
    if (this.#isUntold) this.#stood.untold += 1
    ignored(Promise.all(this.#places.map(({ tokens }) => tokens.close())))
    await this.#turns.advance(MINUTE)
  }

  #login(
    place: Place,
    { who, isShort }: Extract<LastLoginAct, { act: 'login' }>,
    adopt: (grant: TokenGrant) => unknown,
  ): void {
    const { session, grant } = this.#service.logIn(who, isShort)
    this.#overtake(place, place.open.length)
    const adopted = adopt(grant)
    if (adopted instanceof Promise) ignored(adopted)
    this.#begins(place, session)
    place.has = session
  }

  #begins(place: Place, session: Session): void {
    const isSeen = place.has !== undefined && place.has === this.#last[0]
    this.#hadSeen = isSeen && (place !== this.#lastAt || this.#hadSeen)
    this.#lastAt = place
    this.#last = [session]
  }

  #promise(place: Place): void {
    const promise = new Promise<TokenGrant | undefined>((resolve, reject) => {
      place.open.push({ settle: resolve, fail: reject, isOvertaken: false })
    })
    ignored(place.tokens.adopt(promise))
  }

  /** A promised login is an act of its call, and takes effect when it settles. */
  async #settle(place: Place, { brings, isFirst }: Extract<LastLoginAct, { act: 'settle' }>): Promise<void> {
    const index = isFirst ? 0 : place.open.length - 1
    const promised = place.open[index]
    if (!promised) return
    place.open = place.open.filter((one) => one !== promised)
    if (brings === 'failure') promised.fail(new Error('the login failed'))
    else if (brings === 'nothing') promised.settle(undefined)
    else if (promised.isOvertaken) {
      this.#stood.overtaken += 1
      promised.settle(this.#service.logIn(brings).grant)
    } else {
      const { session, grant } = this.#service.logIn(brings)
      this.#overtake(place, index)
      promised.settle(grant)
      this.#begins(place, session)
      await this.#turns.turn()
      place.has = session
    }
    return this.#acted(place)
  }

  /** An act takes effect: it supersedes the promises of earlier calls. */
  #overtake({ open }: Place, count: number): void {
    for (const promised of open.slice(0, count)) promised.isOvertaken = true
  }

  /** A logout ends the login of its manager, and no other login. */
  #ends(has: Place['has']): void {
    if (has === undefined) return
    this.#last = this.#last.flatMap((last) => {
      if (last === undefined || last === has) return [undefined]
      // The store may count two logins of the same user as one.
      return has === 'unknown' || last.who === has.who ? [last, undefined] : [last]
    })
  }

  async #acted({ way }: Place): Promise<void> {
    this.#isUntold ||= way.is !== 'well'
    await this.#turns.advance(APART_MS)
  }

  /** The user whose token each manager returns. */
  async #everybodyAsks(): Promise<string[]> {
    for (const { tokens } of this.#places) internalsOf(tokens)?.followLogin?.()()
    await this.#turns.advance(this.#isQuick ? 0 : 200)
    const served = this.#places.map(({ tokens }) =>
      tokens.getAccessToken().then(
        (token) => this.#service.sessionOf(token)?.who ?? 'a stranger',
        (error: unknown) => (isTokenError(error, 'ERR_LOGIN_REQUIRED') ? 'nobody' : String(error)),
      ),
    )
    // Longer than any of them waits, such as for a lease whose owner received no response.
    await this.#turns.advance(31_000)
    return Promise.all(served)
  }

  /** The application recognizes the login of a manager by the tokens that it returns. */
  #peek(): void {
    for (const place of this.#places) {
      const session = this.#service.sessionOf(place.tokens.peekAccessToken())
      if (session) place.has = session
    }
  }
}

/** The result of an act or a call proves nothing here, because the store may be down. */
function ignored(ends: Promise<unknown>): void {
  ends.catch(() => undefined)
}
