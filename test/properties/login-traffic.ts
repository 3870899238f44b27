import axios, { type AxiosAdapter, AxiosError, type AxiosInstance } from 'axios'
import { withBearer } from '../../src/fetch/index.ts'
import { type Attachment, attachBearer, isTokenError, type TokenManager } from '../../src/index.ts'
import type { ManualClock } from '../../src/testing/manual-clock.ts'
import type { Door, Which } from './login-course.ts'
import type { LoginService } from './login-service.ts'
import type { Promises } from './promises.ts'

const ORIGIN = 'https://api.example.com'

/** What became of requests. */
export interface Sent {
  /** Sendings with a token, the replays included. */
  requests: number
  replayed: number
  /** Requests that were not sent, or not replayed, because their login had ended. */
  heldBack: number
  /** Requests of an instance without an attachment. */
  bare: number
}
export const nothingSent = (): Sent => ({ requests: 0, replayed: 0, heldBack: 0, bare: 0 })

/** One manager, and what its application knows. */
export interface Place {
  readonly tokens: TokenManager
  /** The login whose token the manager gave last; undefined: something has happened since. */
  login: string | undefined
  /** How often the application was told that somebody has logged in or out. */
  changes: number
  /** Counts what the application did that ends a login for certain: `logout()`, `reset()`. */
  ended: number
}

export interface Asked {
  readonly door: Door
  /** Which instance, or which fetch. */
  readonly at: Which
  readonly takesMs: number
  /** How long an interceptor of the second instance takes. */
  readonly pauseMs: number
}

/** A request as the application and the API see it. */
interface Request extends Asked {
  /** The place whose manager is attached when the request begins; undefined: it must not get a token. */
  readonly place: Place | undefined
  /** The login in which the request began; undefined: nobody outside the manager can know, before its first sending. */
  login: string | undefined
  readonly changes: number
  readonly ended: number
  sendings: number
}

/** Requests through real attachments, and the API that they reach. */
export class Traffic {
  readonly #clock: ManualClock
  readonly #service: LoginService
  readonly #promises: Promises
  readonly #sent: Sent
  readonly #places: readonly Place[]
  readonly #instances: readonly AxiosInstance[]
  readonly #fetches: readonly ((url: string) => Promise<Response>)[]
  /** What is attached to each instance. */
  readonly #attached = new Map<Which, { place: Place; attachment: Attachment }>()
  readonly #requests: Request[] = []

  constructor(
    places: readonly Place[],
    world: { clock: ManualClock; service: LoginService; promises: Promises; sent: Sent },
  ) {
    this.#clock = world.clock
    this.#service = world.service
    this.#promises = world.promises
    this.#sent = world.sent
    this.#places = places
    this.#instances = [0, 1].map(() => axios.create({ baseURL: ORIGIN, adapter: this.#adapter }))
    // Registered before the attachments, so it runs after them.
    this.#instances[1]!.interceptors.request.use(async (config) => {
      const request = this.#requestOf(config.url!)
      // A login may have changed in the turn in which the request came to its attachment.
      if (request.place?.changes !== request.changes) request.login = undefined
      await this.#pass(request.pauseMs)
      return config
    })
    const answer = (url: string, init?: RequestInit) => this.#fetched(url, new Headers(init?.headers))
    this.#fetches = places.map(({ tokens }) => withBearer(answer, tokens, { origins: [ORIGIN] }))
    for (const at of [0, 1] as const) this.attach(at, at)
  }

  /** From now on this instance has the tokens of this manager. */
  attach(at: Which, on: Which): void {
    this.detach(on)
    const place = this.#places[at]!
    this.#attached.set(on, { place, attachment: attachBearer(this.#instances[on]!, place.tokens) })
  }

  detach(on: Which): void {
    this.#attached.get(on)?.attachment.detach()
    this.#attached.delete(on)
  }

  /** Ends as the request ends. A 401 that surfaces, and an error of the manager, are good ends. */
  async request(asked: Asked): Promise<void> {
    const place = asked.door === 'fetch' ? this.#places[asked.at] : this.#attached.get(asked.at)?.place
    if (place) this.peek(place)
    const { login, changes = 0, ended = 0 } = place ?? {}
    const request: Request = { ...asked, place, login, changes, ended, sendings: 0 }
    const url = `${ORIGIN}/${this.#requests.push(request) - 1}`
    try {
      const send = asked.door === 'fetch' ? this.#fetches[asked.at] : this.#instances[asked.at]
      this.#ended(request, (await send!(url)).status)
    } catch (error) {
      if (error instanceof AxiosError) this.#ended(request, error.status)
      else if (isTokenError(error, 'ERR_LOGIN_REQUIRED')) this.#sent.heldBack += 1
      else throw error
    }
  }

  /** @returns The token that the manager gives at this moment: from now on the application knows its login. */
  peek(place: Place): string | undefined {
    const token = place.tokens.peekAccessToken()
    if (token !== undefined) place.login = this.#service.loginOf(token)
    return token
  }

  #ended({ place, ended, sendings }: Request, status: number | undefined): void {
    this.#promises.must(status === 200 || status === 401, `the API answers 200 or 401, not ${status}`)
    if (status === 401 && sendings === 1 && place && place.ended > ended) this.#sent.heldBack += 1
  }

  readonly #adapter: AxiosAdapter = async (config) => {
    const header = config.headers.get('Authorization') ?? undefined
    const status = await this.#answered(this.#requestOf(config.url!), header as string | undefined)
    const response = { status, statusText: '', headers: {}, data: '', config }
    if (status === 200) return response
    throw new AxiosError('refused', 'ERR_BAD_REQUEST', config, undefined, response)
  }

  async #fetched(url: string, headers: Headers): Promise<Response> {
    return new Response(null, {
      status: await this.#answered(this.#requestOf(url), headers.get('authorization') ?? undefined),
    })
  }

  #requestOf(url: string): Request {
    return this.#requests[Number(url.slice(ORIGIN.length + 1))]!
  }

  /** The API. @returns its status for this `Authorization` */
  async #answered(request: Request, authorization: string | undefined): Promise<200 | 401> {
    const token = authorization?.replace('Bearer ', '')
    this.#judge(request, token)
    await this.#pass(request.takesMs)
    return token === undefined || this.#service.refused.has(token) ? 401 : 200
  }

  #judge(request: Request, token: string | undefined): void {
    const { must } = this.#promises
    const { place, ended } = request
    if (!place) {
      this.#sent.bare += 1
      must(token === undefined, 'a request of a detached instance has no token')
      return
    }
    request.sendings += 1
    this.#sent.requests += 1
    if (request.sendings > 1) this.#sent.replayed += 1
    must(request.sendings <= 2, 'a request is replayed once')
    must(token !== undefined, 'a request of an attached instance is not sent without a token')
    const login = this.#service.loginOf(token ?? '')
    must(login !== undefined, 'a token is one that was issued')
    request.login ??= login
    must(login === request.login, `a request of ${request.login} never has a token of ${login}`)
    must(ended === place.ended, 'a request from before a logout is not sent after it')
  }

  async #pass(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => this.#clock.setTimer(resolve, ms))
  }
}
