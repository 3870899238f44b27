import { createTokenManager, type TokenManager } from '../../src/index.ts'
import { withBearer } from '../../src/fetch/index.ts'
import type { DPoPKey } from '../../src/core/proofs.ts'
import { type ApiServer, type Received, rejection, startApi } from '../axios/support/api-server.ts'
import { type Arrival, arrivalOf } from '../fetch/arrivals.ts'
import { type CallCourse, givenOf, isOnce, type Told } from './call-course.ts'

type AnyFetch = (input: unknown, init?: unknown) => Promise<Response>
type Arrived = Pick<Received, 'method' | 'url' | 'headers' | 'body'>

/** Where calls arrive: an API, and an origin that must receive no token. */
export interface CallNet {
  readonly home: string
  readonly other: string
  readonly fetch: AnyFetch
  /** Responds to what arrives. */
  answer: (origin: string, arrived: Arrived) => { status: number; headers?: Record<string, string> }
}

/** A fetch without a network, which reads all of its arguments before it returns, like that of a platform. */
export function callsInMemory(): CallNet {
  const [home, other] = ['https://api.example.com', 'https://other.example']
  const net: CallNet = {
    home,
    other,
    answer: () => ({ status: 200 }),
    async fetch(input, init) {
      const request = new Request(input as string, init as RequestInit)
      const { origin, pathname, search } = new URL(request.url)
      const body = Buffer.from(await request.arrayBuffer())
      const { status, headers } = net.answer(origin, {
        method: request.method,
        url: pathname + search,
        headers: Object.fromEntries(request.headers),
        body,
      })
      return new Response(null, { status, headers: headers ?? {} })
    },
  }
  return net
}

/** The fetch of Node, and servers on loopback. */
export async function callsOnLoopback(): Promise<CallNet> {
  const answer: CallNet['answer'] = (origin, arrived) => net.answer(origin, arrived)
  const home: ApiServer = await startApi((request) => answer(home.baseUrl, request))
  const other: ApiServer = await startApi((request) => answer(other.baseUrl, request))
  const net: CallNet = {
    home: home.baseUrl,
    other: other.baseUrl,
    fetch: fetch as AnyFetch,
    answer: () => ({ status: 200 }),
  }
  return net
}

/** How often the courses went where a promise could be broken. */
export interface Met {
  waited: number
  replayed: number
  proven: number
  provenAgain: number
  elsewhere: number
  withBody: number
}
export const nothingMet = (): Met => ({ waited: 0, replayed: 0, proven: 0, provenAgain: 0, elsewhere: 0, withBody: 0 })

/** @throws naming each request that differs from its call. */
export async function callAndScramble(course: CallCourse, net: CallNet, key: DPoPKey, met: Met): Promise<void> {
  const expected: Arrival[] = []
  for (const told of course.calls) expected.push(await plainly(told, net))
  const world = new CallWorld(course, net, met)
  const tokens = world.tokens()
  try {
    if (course.isWarm) await tokens.getAccessToken()
    const api = withBearer(net.fetch, tokens, {
      origins: [net.home],
      ...(course.hasKey && { dpop: key }),
    })
    const answers = course.calls.map((told, id) => {
      const given = givenOf(marked(told, id), told.isHome ? net.home : net.other, net.other)
      const answer = api(given.input, given.init)
      given.scramble(told.isHome && course.isWarm && !course.hasKey)
      return answer.then(({ status }) => status, String)
    })
    // Waiting calls have begun to wait before a token arrives.
    await new Promise((resolve) => setImmediate(resolve))
    world.release()
    const statuses = await Promise.all(answers)
    world.compare(expected, statuses)
  } finally {
    await tokens.close()
  }
}

/** The path identifies the call. */
const marked = (told: Told, id: number): Told => ({ ...told, path: `/${id}${told.path}` })

async function plainly(told: Told, net: CallNet): Promise<Arrival> {
  let arrived: Arrived | undefined
  net.answer = (_, request) => {
    arrived = request
    return { status: 200 }
  }
  const { input, init } = givenOf(told, told.isHome ? net.home : net.other, net.other)
  await net.fetch(input, init)
  return arrivalOf(arrived!)
}

/** Each course requires another one: the key keeps the last one of each origin. */
let nonces = 0

class CallWorld {
  readonly #course: CallCourse
  readonly #met: Met
  readonly #arrived: { origin: string; request: Arrived }[][]
  readonly #net: CallNet
  readonly #nonce = `nonce-${(nonces += 1)}`
  #release = () => {}
  #minted = 0

  constructor(course: CallCourse, net: CallNet, met: Met) {
    this.#course = course
    this.#net = net
    this.#met = met
    this.#arrived = course.calls.map(() => [])
    net.answer = (origin, request) => this.#answer(origin, request)
  }

  tokens(): TokenManager {
    const released = new Promise<void>((resolve) => (this.#release = resolve))
    const obtain = async () => {
      this.#minted += 1
      const accessToken = `token-${this.#minted}`
      if (!this.#course.isWarm) await released
      return { accessToken, accessLifetimeMs: 600_000 }
    }
    return createTokenManager({ source: { id: 'calls', obtain } })
  }

  release(): void {
    if (!this.#course.isWarm) this.#met.waited += 1
    this.#release()
  }

  #answer(origin: string, request: Arrived) {
    const id = Number(/^\/(\d)\//.exec(request.url)?.[1] ?? 0)
    const told = this.#course.calls[id]!
    this.#arrived[id]!.push({ origin, request })
    if (!told.isHome) return { status: 200 }
    const proof = claimsIn(request.headers.dpop)
    if (this.#course.hasKey && this.#course.wantsNonce && proof?.nonce !== this.#nonce)
      return { status: 401, headers: { 'DPoP-Nonce': this.#nonce, 'WWW-Authenticate': 'DPoP error="use_dpop_nonce"' } }
    if (told.isRejected && request.headers.authorization?.endsWith(' token-1')) return { ...rejection, status: 401 }
    return { status: 200 }
  }

  compare(expected: readonly Arrival[], statuses: readonly unknown[]): void {
    for (const [id, told] of this.#course.calls.entries()) {
      const arrived = this.#arrived[id]!
      must(arrived.length > 0, `call ${id} did not arrive`)
      for (const { origin, request } of arrived) {
        must((origin === this.#net.home) === told.isHome, `call ${id} arrived at ${origin}`)
        const { url, ...rest } = arrivalOf(request)
        const [meant, seen] = [expected[id]!, { ...rest, url: url.replace(`/${id}/`, '/') }].map(shown)
        must(seen === meant, `call ${id} was\n${meant}\nand arrived as\n${seen}`)
        this.#checkToken(told, request)
      }
      const tokens = new Set(arrived.map(({ request }) => request.headers.authorization))
      // A rejection or a nonce costs one additional request.
      if (!isOnce(told)) must(statuses[id] === 200, `call ${id} was answered with ${String(statuses[id])}`)
      else must(arrived.length === 1, `call ${id} was sent ${arrived.length} times, though its stream can be read once`)
      if (tokens.size > 1) this.#met.replayed += 1
      if (arrived.length > tokens.size) this.#met.provenAgain += 1
      if (!told.isHome) this.#met.elsewhere += 1
      if (told.method !== 'GET' && told.body !== 'none') this.#met.withBody += 1
    }
  }

  #checkToken({ isHome }: Told, { headers, method, url }: Arrived): void {
    const { hasKey } = this.#course
    const { authorization, dpop } = headers
    if (!isHome) {
      must(authorization === undefined && dpop === undefined, 'the other origin has a token')
      return
    }
    must(RegExp(`^${hasKey ? 'DPoP' : 'Bearer'} token-\\d$`).test(authorization ?? ''), `the token is ${authorization}`)
    if (!hasKey) return
    this.#met.proven += 1
    const { htm, htu } = claimsIn(dpop)!
    must(
      htm === method && htu === new URL(url, this.#net.home).href.split('?')[0],
      `${method} ${url} has a proof of ${htm} ${htu}`,
    )
  }
}

const shown = ({ method, url, headers, body }: Arrival) => JSON.stringify({ method, url, headers, body })

function must(holds: boolean, promise: string): void {
  if (!holds) throw new Error(promise)
}

function claimsIn(proof: unknown): { htm: string; htu: string; nonce?: string } | undefined {
  const payload = typeof proof === 'string' ? proof.split('.')[1] : undefined
  return payload === undefined ? undefined : (JSON.parse(Buffer.from(payload, 'base64url').toString()) as never)
}
