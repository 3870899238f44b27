import { internalsOf } from '../../src/core/manager-internals.ts'
import { createTokenManager, memoryStore, TokenError } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { WatchedRegister } from '../support/memory-register.ts'
import { LoginActs } from './login-acts.ts'
import type { LoginAct, LoginCommand, LoginCourse, Which } from './login-course.ts'
import { LoginService, SessionService } from './login-service.ts'
import { type Place, type Sent, Traffic } from './login-traffic.ts'
import { Promises } from './promises.ts'
import { TroubledRegister } from './troubled-register.ts'
import { Turns } from './turns.ts'

const MINUTE = 60_000

/** @throws naming the promises that the managers and their attachments broke on their course. */
export async function travelWithLogins(course: LoginCourse, unhandled: unknown[], sent: Sent): Promise<void> {
  const voyage = new LoginVoyage(course, unhandled, sent)
  for (const command of course.commands) await voyage.perform(command)
  await voyage.end()
}

class LoginVoyage {
  readonly #clock = manualClock()
  readonly #promises = new Promises(() => this.#clock.monotonicNow())
  readonly #service: LoginService | SessionService
  /** The path of each manager to the one register. */
  readonly #ways: readonly TroubledRegister[]
  readonly #places: readonly Place[]
  readonly #acts = new LoginActs(() => this.#clock.wallNow())
  readonly #traffic: Traffic
  readonly #turns: Turns
  readonly #isShared: boolean
  /** Pending work. */
  readonly #open = new Set<string>()
  #begun = 0

  constructor({ store, draws, delays, isSession }: LoginCourse, unhandled: unknown[], sent: Sent) {
    this.#service = isSession ? new SessionService() : new LoginService()
    this.#turns = new Turns(this.#clock, this.#promises, unhandled)
    this.#isShared = store === 'register'
    let drawn = 0
    const random = () => draws[drawn++ % draws.length]!
    const inMemory = memoryStore()
    const clock = this.#clock
    const register = new WatchedRegister(clock)
    this.#ways = [0, 1].map(
      (n) => new TroubledRegister(register, clock, delays && { ...delays, seed: delays.seed + n }),
    )
    this.#places = ([0, 1] as const).map((at) => {
      const shared = store === 'memory' ? inMemory : sharedStore(this.#ways[at]!)
      return placeOf(at, createTokenManager({ source: this.#service, store: shared, clock, random }))
    })
    const world = { clock, service: this.#service, promises: this.#promises, acts: this.#acts, sent }
    this.#traffic = new Traffic(this.#places, world)
  }

  async perform({ what, turns }: LoginCommand): Promise<void> {
    await this.#act(what)
    if (turns === undefined) await this.#turns.turn()
    for (let turn = 0; turn < (turns ?? 0); turn += 1) await Promise.resolve()
  }

  /** When everything is healthy, all pending work ends. */
  async end(): Promise<void> {
    this.#service.script = []
    for (const way of this.#ways) way.is = 'well'
    await this.#turns.advance(3 * MINUTE)
    this.#promises.must(this.#open.size === 0, `everything ends: ${[...this.#open].join(', ')}`)
    for (const { tokens } of this.#places) this.#watch('close', tokens.close())
    await this.#turns.advance(MINUTE)
    this.#promises.must(this.#open.size === 0, `everything ends: ${[...this.#open].join(', ')}`)
    await this.#turns.turn()
  }

  async #act(what: LoginAct): Promise<void> {
    switch (what.act) {
      case 'advance':
        return this.#turns.advance(what.ms)
      case 'service':
        this.#service.script = Array.from({ length: what.times }, () => what)
        return
      case 'register':
        for (const [at, way] of this.#ways.entries()) if (what.at === undefined || what.at === at) way.is = what.is
        this.#acts.isUntold ||= this.#isShared
        return
      case 'attach':
        this.#traffic.attach(what.at, what.on)
        return
      case 'detach':
        this.#traffic.detach(what.on)
        return
      case 'request':
        for (let time = 0; time < what.times; time += 1) this.#watch('request', this.#traffic.request(what))
        return
    }
    const place = this.#places[what.at]!
    const { tokens } = place
    switch (what.act) {
      case 'login':
        this.#login(place, what)
        return
      case 'logout':
      case 'reset': {
        const end = this.#acts.begins(what.at, undefined, place.login)
        place.login = undefined
        place.ended += 1
        this.#watch(what.act, tokens[what.act]().then(end))
        return
      }
      case 'look':
        internalsOf(tokens)?.followLogin?.()()
        return
      case 'follow':
        internalsOf(tokens)?.followLogin?.()
        return
      case 'renew':
        this.#watch('renew', tokens.renew())
        return
      case 'refuse': {
        const held = this.#traffic.peek(place)
        if (held !== undefined) this.#service.refused.add(held)
      }
    }
  }

  #login(place: Place, { at, who, brings }: Extract<LoginAct, { act: 'login' }>): void {
    if (this.#service instanceof SessionService) {
      // Users whom a service does not name cannot be told apart: here no manager has the cookie.
      this.#service.cookie = who === 'carol' ? undefined : [who, brings]
      return
    }
    const { accessToken, accessLifetimeMs, refreshToken, refreshLifetimeMs, subject } = this.#service.logIn(who, brings)
    const end = this.#acts.begins(at, this.#service.loginOf(accessToken), place.login)
    place.login = undefined
    const access = brings !== 'refresh' && { accessToken, accessLifetimeMs }
    const refresh = brings !== 'access' && { refreshToken, refreshLifetimeMs }
    this.#watch('adopt', place.tokens.adopt({ ...access, ...refresh, subject }).then(end))
  }

  #watch(what: string, ends: Promise<unknown>): void {
    this.#begun += 1
    const name = `${what} ${this.#begun}`
    this.#open.add(name)
    ends.then(
      () => this.#open.delete(name),
      (error: unknown) => {
        this.#open.delete(name)
        this.#promises.must(error instanceof TokenError, `${name} rejects with an error of ours, not ${String(error)}`)
      },
    )
  }
}

function placeOf(at: Which, tokens: LoginManager): Place {
  const place: Place = { at, tokens, login: undefined, changes: 0, ended: 0 }
  // A user has logged in or out: the next token shows which.
  tokens.on('loginChanged', () => {
    place.login = undefined
    place.changes += 1
  })
  tokens.on('anomaly', () => undefined)
  tokens.on('storeUnavailable', () => undefined)
  return place
}
