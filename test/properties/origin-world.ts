import http from 'node:http'
import { inspect } from 'node:util'
import { jest } from '@jest/globals'
import axios, { AxiosHeaders, type AxiosInstance, type AxiosRequestConfig } from 'axios'
import { attachBearer, createTokenManager, type TokenManager } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { type Answer, type Asked, type OriginCourse, SPELLINGS, type Where } from './origin-course.ts'
import type { Net } from './origin-nets.ts'

const { http: following } = jest.requireActual<{ http: object }>('follow-redirects')
const TRANSPORTS: Record<Asked['transport'], object | undefined> = {
  none: undefined,
  'that of Node': http,
  following,
  'following, of the instance': following,
  own: { request: (...given: Parameters<typeof http.request>) => http.request(...given) },
}

/** How often the courses went where a promise could be broken. */
export interface Met {
  arrived: number
  withToken: number
  elsewhere: number
  replayed: number
  redirected: number
  cut: number
  ownTransport: number
}
export const nothingMet = (): Met => ({
  arrived: 0,
  withToken: 0,
  elsewhere: 0,
  replayed: 0,
  redirected: 0,
  cut: 0,
  ownTransport: 0,
})

/** @throws naming the promises that the attachments broke. */
export async function travelAcrossOrigins(course: OriginCourse, net: Net, met: Met): Promise<void> {
  const world = new OriginWorld(course, net, met)
  try {
    await world.travel()
  } finally {
    world.close()
  }
  if (world.broken.length > 0) throw new Error(world.broken.join('\n'))
}

class OriginWorld {
  readonly broken: string[] = []
  readonly #course: OriginCourse
  readonly #net: Net
  readonly #met: Met
  readonly #managers: readonly TokenManager[]
  readonly #instances: readonly AxiosInstance[]
  readonly #shared = new AxiosHeaders({ 'X-App': '1' })
  readonly #refused = new Set<number>()

  constructor(course: OriginCourse, net: Net, met: Met) {
    this.#course = course
    this.#net = net
    this.#met = met
    const clock = manualClock()
    this.#managers = net.homes.map((_, at) => {
      let issued = 0
      const obtain = async () => ({ accessToken: `secret-of-${at}-${(issued += 1)}`, accessLifetimeMs: 600_000 })
      return createTokenManager({ source: { id: `${at}`, obtain }, clock })
    })
    for (const tokens of this.#managers) tokens.on('anomaly', () => undefined)
    this.#instances = [0, 1, 2].map((at) => this.#instance(at))
  }

  async travel(): Promise<void> {
    this.#net.answer = (path) => this.#answer(path)
    this.#net.hear = (origin, text) => this.#hear(origin, text)
    const results = await Promise.allSettled(this.#course.asked.map((one, id) => this.#send(one, id)))
    for (const result of results) {
      const ended: unknown = result.status === 'fulfilled' ? result.value : result.reason
      this.#must(!inspect(ended).includes('secret-of'), 'what a request ends with prints no token')
    }
    this.#must(!JSON.stringify(this.#shared).includes('secret-of'), 'headers that requests share hold no token')
    for (const { defaults } of this.#instances)
      this.#must(!JSON.stringify(defaults.headers).includes('secret-of'), 'the defaults hold no token')
  }

  close(): void {
    for (const tokens of this.#managers) void tokens.close()
  }

  #instance(at: number): AxiosInstance {
    const { homes, config } = this.#net
    const { shares, header } = this.#course
    const api = axios.create({ ...config, baseURL: homes[at] ?? homes[0] })
    const share = () =>
      api.interceptors.request.use(
        (given) => {
          given.headers = this.#shared
          return given
        },
        undefined,
        { synchronous: at === 0 },
      )
    if (shares === 'defaults') api.defaults.headers.common = this.#shared
    if (shares === 'interceptor') share()
    const tokens = this.#managers[at]
    if (tokens) attachBearer(api, tokens, { header, origins: [homes[at]!], allowInsecureHttp: true })
    if (shares === 'early interceptor') share()
    return api
  }

  async #send(asked: Asked, id: number): Promise<unknown> {
    for (let turn = 0; turn < asked.turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    const { method, from } = asked
    const transport = TRANSPORTS[asked.transport]
    const api = this.#instances[from]!
    const config: AxiosRequestConfig = {
      method,
      ...this.#address(asked, id),
      ...(method !== 'get' && { data: '{"a":1}' }),
      ...(this.#course.shares === 'config' && { headers: this.#shared }),
      // A limit against hanging: nothing here takes a minute.
      timeout: 60_000,
    }
    if (asked.transport === 'following, of the instance') Object.assign(api.defaults, { transport })
    else if (transport) Object.assign(config, { transport })
    return api.request(config)
  }

  #address({ spelling, mutated, to, from }: Asked, id: number): { url: string; baseURL?: string } {
    const home = this.#net.homes[from === 1 ? 1 : 0]
    if (mutated !== undefined) return { url: mutated.replace(/\{(\d+)\}/g, (_, at) => this.#origin(Number(at), home)) }
    return SPELLINGS[spelling]!(this.#origin(to, home), `/${id}/0`, home)
  }

  #origin(where: Where, here: string): string {
    const { homes, others } = this.#net
    const all = [...homes, ...others]
    return where === 'here' ? here : all[where % all.length]!
  }

  /** Paths are `/<request>/<hop>`; others belong to changed addresses. */
  #answer(path: string): Answer {
    const [, id, at] = /^\/(\d+)\/(\d+)/.exec(path) ?? []
    const asked = this.#course.asked[Number(id)]
    if (!asked) return { status: 200 }
    const hop = asked.hops[Number(at)]
    const answer: Answer = hop
      ? { status: hop.status, location: this.#location(hop.to, `/${id}/${Number(at) + 1}`) }
      : { status: 200 }
    if (asked.isRejected && at === '0' && !this.#refused.has(Number(id))) {
      this.#refused.add(Number(id))
      return { status: 401 }
    }
    if (hop) this.#met.redirected += 1
    if (asked.cut?.hop !== Number(at)) return answer
    this.#met.cut += 1
    return { ...answer, cut: asked.cut }
  }

  #location(to: Where, path: string): string {
    return to === 'here' ? path : this.#origin(to, '') + path
  }

  /** Everything that arrives at `origin`. */
  #hear(origin: string, text: string): void {
    const { homes } = this.#net
    this.#met.arrived += 1
    if (!homes.includes(origin)) this.#met.elsewhere += 1
    const tokens = [...new Set(text.match(/secret-of-\d/g))].map((token) => Number(token.at(-1)))
    if (tokens.length > 0) this.#met.withToken += 1
    if (/secret-of-\d-2/.test(text)) this.#met.replayed += 1
    for (const token of tokens)
      this.#must(homes[token] === origin, `${origin} got the token of ${homes[token]}: ${text}`)
    this.#notBare(origin, text, tokens)
  }

  /** A plain request to its own origin has its token. */
  #notBare(origin: string, text: string, tokens: readonly number[]): void {
    const [, id] = /(?:^|\s|\n)\/(\d+)\/0/.exec(text) ?? []
    const asked = this.#course.asked[Number(id)]
    if (!asked || asked.mutated !== undefined || asked.spelling > 2 || this.#net.homes.indexOf(origin) !== asked.from)
      return
    // The instance may have it from another request.
    const isOwn =
      asked.transport !== 'none' || this.#course.asked.some(({ transport }) => transport.endsWith('instance'))
    if (isOwn) this.#met.ownTransport += 1
    else this.#must(tokens.length === 1, `a request home has a token: ${text}`)
  }

  #must(holds: boolean, promise: string): void {
    if (!holds) this.broken.push(promise)
  }
}
