import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import axios, { AxiosHeaders, type AxiosInstance, type AxiosRequestConfig } from 'axios'
import type { DPoPKey } from '../../src/core/proofs.ts'
import { attachBearer, createTokenManager, type TokenManager } from '../../src/index.ts'
import { verified } from '../dpop/support/verifier.ts'
import type { AsCalledCourse, Asked } from './as-called-course.ts'
import { DATA, type Form, HEADERS, Objects, PARAMS, SCRAMBLED } from './given-objects.ts'

/** How often the courses went where a promise could be broken. */
export interface Met {
  arrived: number
  waited: number
  replayed: number
  proven: number
  shared: number
}
export const nothingMet = (): Met => ({ arrived: 0, waited: 0, replayed: 0, proven: 0, shared: 0 })

/** An API that keeps what arrives. Requests with the first token of an attachment are rejected if the course says so. */
export class Listener {
  readonly #server: Server
  /** What arrived, by the number of the request. */
  readonly heard = new Map<string, string[]>()
  isRefusing = false

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#hear(request).then((status) => response.writeHead(status).end())
    })
  }

  static async open(): Promise<Listener> {
    const listener = new Listener()
    listener.#server.listen(0, '127.0.0.1')
    await once(listener.#server, 'listening')
    return listener
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #hear(request: IncomingMessage): Promise<number> {
    const body = (await buffer(request)).toString('latin1')
    const { authorization = '', dpop, 'x-request': id = '', ...headers } = request.headers
    // Both ends of a form choose a new boundary each time.
    const boundary = /^--(\S+)\r\n/.exec(body)?.[1] ?? SCRAMBLED
    const { method = '', url = '' } = request
    const htu = this.origin + url.replace(/\?.*/, '')
    if (dpop !== undefined) {
      const { claims } = verified(dpop)
      if (claims.htm !== method || claims.htu !== htu) throw new Error(`the proof is for ${claims.htm} ${claims.htu}`)
    }
    const told = JSON.stringify([method, url, headers, body]).replaceAll(boundary, 'boundary')
    this.heard.set(String(id), [...(this.heard.get(String(id)) ?? []), told])
    return this.isRefusing && authorization.endsWith(' token-1') ? 401 : 200
  }
}

/** @throws if a request carries anything but what plain axios sends at the call, or is not sent. */
export async function travelAsCalled(
  course: AsCalledCourse,
  listener: Listener,
  key: DPoPKey,
  met: Met,
): Promise<void> {
  const { asked, isWarm, isRejected, hasKey, isShared } = course
  listener.heard.clear()
  listener.isRefusing = isRejected
  const plain = instanceFor(course, listener)
  // One after another, each with its own objects: what plain axios sends.
  for (const [at, one] of asked.entries()) await send(plain, one, at, new Objects(false))
  const expected = new Map(listener.heard)
  listener.heard.clear()

  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const tokens = managerAfter(opened)
  const api = instanceFor(course, listener)
  attachBearer(api, tokens, { origins: [listener.origin], ...(hasKey && { dpop: key }) })
  if (isWarm) {
    open()
    await tokens.getAccessToken()
  }
  const objects = new Objects(isShared)
  const sent = asked.map((one, at) => sendScrambled(api, one, at, objects))
  setImmediate(open)
  try {
    for (const { status } of await Promise.all(sent)) if (status !== 200) throw new Error(`responded with ${status}`)
  } finally {
    await tokens.close()
  }
  met.arrived += asked.length
  if (!isWarm) met.waited += asked.length
  if (hasKey) met.proven += asked.length
  if (isShared) met.shared += asked.length
  for (const [id, [call]] of expected) {
    const arrived = listener.heard.get(id) ?? []
    if (arrived.length > 1) met.replayed += 1
    for (const one of arrived) if (one !== call) throw new Error(`request ${id} was\n${call}\nand arrived as\n${one}`)
    if (arrived.length === 0) throw new Error(`request ${id} did not arrive`)
  }
}

function managerAfter(opened: Promise<void>): TokenManager {
  let issued = 0
  const obtain = async () => {
    await opened
    return { accessToken: `token-${(issued += 1)}`, accessLifetimeMs: 600_000 }
  }
  return createTokenManager({ source: { id: 'as-called', obtain }, random: () => 0 })
}

const sharedHeaders = new WeakMap<AxiosInstance, AxiosHeaders>()

function instanceFor({ adapter, sharesHeaders }: AsCalledCourse, { origin }: Listener): AxiosInstance {
  const api = axios.create({ adapter, baseURL: origin, proxy: false })
  if (!sharesHeaders) return api
  const shared = new AxiosHeaders()
  sharedHeaders.set(api, shared)
  api.interceptors.request.use(
    (config) => {
      shared.clear()
      config.headers = shared.set(config.headers)
      return config
    },
    undefined,
    { synchronous: true },
  )
  return api
}

/** @returns The settings of a request, made of the objects of its caller. */
function configOf({ method, ...asked }: Asked, at: number, objects: Objects) {
  const word = `word-${at}--`
  const forms: Form[] = [PARAMS[asked.params], method === 'get' ? DATA.none : DATA[asked.data], HEADERS[asked.headers]]
  const given = forms.map((form) => objects.give(form, word))
  const [params, data, headers] = given as [unknown, unknown, Record<string, string> | undefined]
  const config: AxiosRequestConfig = {
    method,
    url: `/${word}`,
    params,
    data,
    headers: Object.assign(headers ?? {}, { 'X-Request': String(at) }),
    ...(asked.params === 'with a query of its own' && { paramsSerializer: { serialize: String } }),
    validateStatus: () => true,
    // A limit against hanging: nothing here takes a minute.
    timeout: 60_000,
  }
  return { config, scramble: () => forms.forEach((form, n) => objects.scramble(form, given[n])) }
}

const send = (api: AxiosInstance, asked: Asked, at: number, objects: Objects) =>
  api.request<unknown>(configOf(asked, at, objects).config)

/** Sends a request, and changes all of its arguments as soon as the call has returned. */
function sendScrambled(api: AxiosInstance, asked: Asked, at: number, objects: Objects) {
  const { config, scramble } = configOf(asked, at, objects)
  const sent = api.request<unknown>(config)
  scramble()
  const shared = sharedHeaders.get(api)
  shared?.clear()
  shared?.set({ 'X-Tenant': SCRAMBLED, [SCRAMBLED]: '1' })
  Object.assign(config, { url: '/elsewhere', method: 'delete', baseURL: 'http://127.0.0.1:1', data: SCRAMBLED })
  return sent
}
