import axios, { type AxiosAdapter, AxiosError, type AxiosInstance } from 'axios'
import { withBearer } from '../../src/fetch/index.ts'
import { continues } from '../../src/record/identity.ts'
import { type Attachment, attachBearer, isTokenError } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import type { ManualClock } from '../../tools/testing/manual-clock.ts'
import type { Door, Which } from './login-course.ts'
import type { LoginActs } from './login-acts.ts'
import type { LoginService } from './login-service.ts'
import type { Promises } from './promises.ts'
import { SharedObjects } from './shared-objects.ts'

const ORIGIN = 'https://api.example.com'

/** The results of requests. */
export interface Sent {
  /** Requests with a token, replays included. */
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
  readonly at: Which
  readonly tokens: LoginManager
  /** The login whose token the manager returned last; undefined: there was an event since. */
  login: string | undefined
  /** How often the application was notified of a login or logout. */
  changes: number
  /** Counts the acts of the application that certainly end a login: `logout()`, `reset()`. */
  ended: number
}

export interface Asked {
  readonly door: Door
  /** Which instance, or which fetch. */
  readonly at: Which
  readonly takesMs: number
  /** How long an interceptor of the second instance takes, */
  readonly pauseMs: number
  /** and whether it runs before that of the attachment, or after it. */
  readonly pausesFirst: boolean
  /** Whether the request shares its objects with others, which are changed after each call. */
  readonly shares: boolean
}

/** A request as the application and the API see it. */
interface Request extends Asked {
  /** The place whose manager is attached at the start of the request; undefined: it must not get a token. */
  readonly place: Place | undefined
  /** The login in which the request began; undefined: unknown outside the manager before its first sending. */
  login: string | undefined
  readonly changes: number
  readonly ended: number
  /** The number of logins and logouts at its place at its start. */
  readonly acts: number
  sendings: number
}

/** Requests through real attachments, and the API that they reach. */
export class Traffic {
  readonly #clock: ManualClock
  readonly #service: LoginService
  readonly #promises: Promises
  readonly #acts: LoginActs
  readonly #sent: Sent
  readonly #places: readonly Place[]
  readonly #instances: readonly AxiosInstance[]
  readonly #fetches: readonly ((url: string | URL, init?: RequestInit) => Promise<Response>)[]
  readonly #shared = new SharedObjects(ORIGIN)
  /** What is attached to each instance. */
  readonly #attached = new Map<Which, { place: Place; attachment: Attachment }>()
  readonly #requests: Request[] = []
  /** The interceptor that runs before that of the attachment. */
  #first: number | undefined

  constructor(
    places: readonly Place[],
    world: { clock: ManualClock; service: LoginService; promises: Promises; acts: LoginActs; sent: Sent },
  ) {
    this.#clock = world.clock
    this.#service = world.service
    this.#promises = world.promises
    this.#acts = world.acts
    this.#sent = world.sent
    this.#places = places
    this.#instances = [0, 1].map(() => axios.create({ baseURL: ORIGIN, adapter: this.#adapter }))
    // Registered before the attachments, so it runs after them.
    this.#pause(false)
    const answer: typeof fetch = (input, init) => this.#fetched(new Request(input, init))
    this.#fetches = places.map(({ tokens }) => withBearer(answer, tokens, { origins: [ORIGIN] }))
    for (const at of [0, 1] as const) this.attach(at, at)
  }

  /** From now on this instance uses the tokens of this manager. */
  attach(at: Which, on: Which): void {
    this.detach(on)
    const place = this.#places[at]!
    this.#attached.set(on, { place, attachment: attachBearer(this.#instances[on]!, place.tokens) })
    if (on === 0) return
    // Registered after the attachment, so it runs before it.
    if (this.#first !== undefined) this.#instances[1]!.interceptors.request.eject(this.#first)
    this.#first = this.#pause(true)
  }

  /** A slow interceptor of the second instance. @returns its id */
  #pause(isFirst: boolean): number {
    return this.#instances[1]!.interceptors.request.use(async (config) => {
      const request = this.#requestOf(config.url!)
      if (request?.pausesFirst === isFirst) await this.#pass(request.pauseMs)
      return config
    })
  }

  detach(on: Which): void {
    this.#attached.get(on)?.attachment.detach()
    this.#attached.delete(on)
  }

  /** Settles when the request does. A 401 that surfaces, and an error of the manager, are valid results. */
  async request(asked: Asked): Promise<void> {
    const place = asked.door === 'fetch' ? this.#places[asked.at] : this.#attached.get(asked.at)?.place
    if (place) this.peek(place)
    const { login, changes = 0, ended = 0 } = place ?? {}
    const acts = place ? this.#acts.countAt(place.at) : 0
    const request: Request = { ...asked, place, login, changes, ended, acts, sendings: 0 }
    const number = this.#requests.push(request) - 1
    const sending = this.#send(request, number)
    void Promise.resolve().then(() => {
      // The login had changed when the request was made, and the application is notified only now.
      if (request.sendings === 0 && place?.changes !== request.changes) request.login = undefined
    })
    try {
      this.#ended(request, (await sending).status)
    } catch (error) {
      if (error instanceof AxiosError) this.#ended(request, error.status)
      else if (isTokenError(error, 'ERR_LOGIN_REQUIRED')) this.#heldBack(request)
      else throw error
    }
  }

  #send({ door, at, shares }: Request, number: number): Promise<{ status: number }> {
    const [fetch, instance] = [this.#fetches[at]!, this.#instances[at]!]
    if (!shares) return door === 'fetch' ? fetch(`${ORIGIN}/${number}`) : instance(`/${number}`)
    return door === 'fetch' ? this.#shared.fetched(fetch, number) : this.#shared.asked(instance, number)
  }

  #heldBack(request: Request): void {
    this.#sent.heldBack += 1
    const { place } = request
    if (!place || request.acts !== this.#acts.countAt(place.at)) return
    const kept = this.#acts.keptAt(place.at)
    const isKept = kept !== undefined && this.#service.keeps(kept)
    this.#promises.must(!isKept, `nobody has ended the login ${kept}, so no request is told to log in`)
  }

  /** @returns The manager's current token: from now on the application knows its login. */
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
    const request = this.#requestOf(config.url!)
    const { data } = config as { data?: FormData }
    // axios itself reads these objects only after a slow interceptor has ended. Its adapters build the query in this way.
    const { searchParams } = new URL(this.#instances[0]!.getUri(config))
    if (request?.shares && request.at === 0) this.#says(request, [searchParams.get('n'), data?.get('n')])
    const status = await this.#answered(request, header as string | undefined)
    const response = { status, statusText: '', headers: {}, data: '', config }
    if (status === 200) return response
    throw new AxiosError('refused', 'ERR_BAD_REQUEST', config, undefined, response)
  }

  async #fetched(sent: globalThis.Request): Promise<Response> {
    const request = this.#requestOf(sent.url)
    const status = this.#answered(request, sent.headers.get('authorization') ?? undefined)
    if (request?.shares) this.#says(request, [sent.headers.get('x-number'), (await sent.text()).slice(2)])
    return new Response(null, { status: await status })
  }

  /** The content of a request's objects when the API received them. */
  #says(request: Request, said: readonly unknown[]): void {
    const number = String(this.#requests.indexOf(request))
    this.#promises.must(
      said.every((one) => one === number),
      `request ${number} says what it said when it was called, not ${said.join(' and ')}`,
    )
  }

  #requestOf(url: string): Request | undefined {
    const request = this.#requests[Number(new URL(url, ORIGIN).pathname.slice(1))]
    this.#promises.must(request !== undefined, `a request goes where it said when it was called, not to ${url}`)
    return request
  }

  /** The API. @returns its status for this `Authorization` */
  async #answered(request: Request | undefined, authorization: string | undefined): Promise<200 | 401> {
    if (!request) return 200
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
    if (login !== undefined && request.acts === this.#acts.countAt(place.at))
      must(this.#acts.mayHave(place.at, login), `a token of ${login} is not sent after what was done later`)
    must(
      continues({ name: request.login }, 'adopted', { name: login }),
      `a request of ${request.login} never has a token of ${login}`,
    )
    must(ended === place.ended, 'a request from before a logout is not sent after it')
  }

  async #pass(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => this.#clock.setTimer(resolve, ms))
  }
}
