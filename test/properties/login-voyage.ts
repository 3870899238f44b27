import { createTokenManager, memoryStore, TokenError, type TokenManager } from '../../src/index.ts'
import { INTERNALS, type ManagerInternals } from '../../src/core/manager-internals.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'
import type { LoginAct, LoginCommand, LoginCourse } from './login-course.ts'
import { LoginService } from './login-service.ts'
import { Promises } from './promises.ts'

const MINUTE = 60_000

/** What became of requests. */
export interface Sent {
  /** Sendings, the replays included. */
  requests: number
  replayed: number
  /** Requests that were not sent, or not replayed, because their login had ended. */
  heldBack: number
}

/** @throws naming the promises that the managers broke on their course. */
export async function travelWithLogins(course: LoginCourse, unhandled: unknown[], sent: Sent): Promise<void> {
  const voyage = new LoginVoyage(course, unhandled, sent)
  for (const command of course.commands) await voyage.perform(command)
  await voyage.end()
}

/** One manager, its attachment, and what its application knows. */
interface Place {
  readonly tokens: TokenManager
  readonly internals: ManagerInternals
  isAttached: boolean
  /** The login whose token the manager gave last; undefined: something has happened since. */
  login: string | undefined
  /** Counts what the application did that ends a login for certain: `logout()`, `reset()`. */
  ended: number
}

interface Request {
  readonly place: Place
  readonly takesMs: number
  /** The login in which the request began; undefined: nobody outside the manager can know, before its first sending. */
  login: string | undefined
  readonly ended: number
}

class LoginVoyage {
  readonly #clock = manualClock()
  readonly #promises = new Promises(() => this.#clock.monotonicNow())
  readonly #service = new LoginService()
  readonly #register = new TroubledRegister(this.#clock)
  readonly #places: readonly Place[]
  readonly #unhandled: unknown[]
  readonly #sent: Sent
  /** What has not ended yet. */
  readonly #open = new Set<string>()
  #begun = 0

  constructor({ store, draws }: LoginCourse, unhandled: unknown[], sent: Sent) {
    this.#unhandled = unhandled
    this.#sent = sent
    let drawn = 0
    const random = () => draws[drawn++ % draws.length]!
    const inMemory = memoryStore()
    const clock = this.#clock
    this.#places = [0, 1].map(() => {
      const shared = store === 'memory' ? inMemory : sharedStore(this.#register)
      return placeOf(createTokenManager({ source: this.#service, store: shared, clock, random }))
    })
  }

  async perform({ what, turns }: LoginCommand): Promise<void> {
    await this.#act(what)
    if (turns === undefined) await this.#turn()
    for (let turn = 0; turn < (turns ?? 0); turn += 1) await Promise.resolve()
  }

  /** With all in good health, everything that has begun ends. */
  async end(): Promise<void> {
    this.#service.script = []
    this.#register.is = 'well'
    await this.#advance(3 * MINUTE)
    this.#promises.must(this.#open.size === 0, `everything ends: ${[...this.#open].join(', ')}`)
    for (const { tokens } of this.#places) this.#watch('close', tokens.close())
    await this.#advance(MINUTE)
    this.#promises.must(this.#open.size === 0, `everything ends: ${[...this.#open].join(', ')}`)
    await this.#turn()
  }

  async #act(what: LoginAct): Promise<void> {
    switch (what.act) {
      case 'advance':
        return this.#advance(what.ms)
      case 'service':
        this.#service.script = Array.from({ length: what.times }, () => what)
        return
      case 'register':
        this.#register.is = what.is
        return
    }
    const place = this.#places[what.at]!
    const { tokens } = place
    switch (what.act) {
      case 'login':
        this.#login(place, what)
        return
      case 'logout':
      case 'reset':
        place.login = undefined
        place.ended += 1
        this.#watch(what.act, tokens[what.act]())
        return
      case 'renew':
        this.#watch('renew', tokens.renew())
        return
      case 'attach':
      case 'detach':
        place.isAttached = what.act === 'attach'
        return
      case 'refuse': {
        const held = this.#peek(place)
        if (held !== undefined) this.#service.refused.add(held)
        return
      }
      case 'request':
        for (let time = 0; time < what.times && place.isAttached; time += 1) this.#request(place, what.takesMs)
    }
  }

  #login(place: Place, { who, brings }: Extract<LoginAct, { act: 'login' }>): void {
    const { accessToken, accessLifetimeMs, refreshToken, refreshLifetimeMs, subject } = this.#service.login(who)
    place.login = undefined
    const access = brings !== 'refresh' && { accessToken, accessLifetimeMs }
    const refresh = brings !== 'access' && { refreshToken, refreshLifetimeMs }
    this.#watch('adopt', place.tokens.adopt({ ...access, ...refresh, subject }))
  }

  /** As an attachment sends it: see "Whose request is it?" in the documents of the design. */
  #request(place: Place, takesMs: number): void {
    this.#peek(place)
    const request: Request = { place, takesMs, login: place.login, ended: place.ended }
    this.#watch('request', this.#send(request))
  }

  async #send(request: Request): Promise<void> {
    const { tokens, internals } = request.place
    const begun = internals.login?.()
    const token = tokens.peekAccessToken() ?? (await internals.awaitToken?.())
    if (token === undefined || internals.login?.() !== begun) return void (this.#sent.heldBack += 1)
    if (await this.#answered(request, token)) return
    if (internals.login?.() !== begun) return void (this.#sent.heldBack += 1)
    const next = await tokens.replaceAccessToken(token)
    if (internals.login?.() !== begun) return void (this.#sent.heldBack += 1)
    this.#sent.replayed += 1
    await this.#answered(request, next)
  }

  /** @returns Whether the API accepts the token. */
  async #answered(request: Request, token: string): Promise<boolean> {
    const { must } = this.#promises
    const { place, takesMs } = request
    const login = this.#service.loginOf(token)
    this.#sent.requests += 1
    must(login !== undefined, 'a token is one that was issued')
    request.login ??= login
    must(login === request.login, `a request of ${request.login} never has a token of ${login}`)
    must(request.ended === place.ended, 'a request from before a logout is not sent after it')
    if (takesMs > 0) await new Promise<void>((resolve) => this.#clock.setTimer(resolve, takesMs))
    return !this.#service.refused.has(token)
  }

  /** @returns The token that the manager gives at this moment: from now on the application knows its login. */
  #peek(place: Place): string | undefined {
    const token = place.tokens.peekAccessToken()
    if (token !== undefined) place.login = this.#service.loginOf(token)
    return token
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

  async #advance(ms: number): Promise<void> {
    await this.#turn()
    await this.#clock.advance(ms)
    await this.#turn()
  }

  /** Lets everything happen that needs no time. */
  async #turn(): Promise<void> {
    await settle()
    for (const reason of this.#unhandled.splice(0))
      this.#promises.must(false, `no rejection is unhandled: ${String(reason)}`)
    if (this.#promises.broken.length > 0) throw new Error(this.#promises.broken.join('\n'))
  }
}

function placeOf(tokens: TokenManager): Place {
  const internals = (tokens as unknown as Record<typeof INTERNALS, ManagerInternals>)[INTERNALS]
  const place: Place = { tokens, internals, isAttached: true, login: undefined, ended: 0 }
  // Somebody has logged in or out: the next token tells who.
  tokens.on('loginChanged', () => (place.login = undefined))
  tokens.on('anomaly', () => undefined)
  tokens.on('storeUnavailable', () => undefined)
  return place
}

/** A register in memory that may be slow or down. */
class TroubledRegister implements TokenRegister {
  readonly kind = 'memory-register'
  is: 'down' | 'slow' | 'well' = 'well'
  readonly #register: MemoryRegister
  readonly #clock: ReturnType<typeof manualClock>

  constructor(clock: ReturnType<typeof manualClock>) {
    this.#clock = clock
    this.#register = new MemoryRegister(clock)
  }

  async read(...what: Parameters<TokenRegister['read']>) {
    await this.#way()
    return this.#register.read(...what)
  }

  async replace(...what: Parameters<TokenRegister['replace']>) {
    await this.#way()
    const isReplaced = await this.#register.replace(...what)
    await this.#way()
    return isReplaced
  }

  async #way(): Promise<void> {
    if (this.is === 'down') throw new Error('the register is down')
    if (this.is === 'slow') await new Promise<void>((resolve) => this.#clock.setTimer(resolve, 100))
  }
}
