import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { DPoPKey } from '../../src/core/proofs.ts'
import { createTokenManager, TokenError } from '../../src/index.ts'
import { type LoginManager, person } from '../../src/login/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import type { Asked, Door, Send } from '../client/support/doors.ts'
import { sha256, verified } from '../dpop/support/verifier.ts'
import { settle } from '../support/watched-clock.ts'
import type { DoorAct, DoorCourse, DoorRequest, Turn } from './doors-course.ts'
import { DATA, HEADERS, Objects } from './given-objects.ts'

/** How often the courses went where the attachments could differ. */
export interface Met {
  sent: number
  again: number
  elsewhere: number
  notSent: number
  proven: number
  shared: number
}
export const nothingMet = (): Met => ({ sent: 0, again: 0, elsewhere: 0, notSent: 0, proven: 0, shared: 0 })

/** An API, and another origin. Both report what arrives. */
export class Net {
  readonly #servers: readonly Server[]
  /** What arrived in this course: the origin, and all members of the request that no client library chooses by itself. */
  heard: string[] = []
  /** The API's next reactions for each request. */
  readonly turns = new Map<string, Turn[]>()
  /** Held responses. */
  readonly held = new Map<string, Promise<void>>()

  private constructor() {
    this.#servers = (['api', 'away'] as const).map((place) =>
      createServer((request, response) => {
        response.setHeader('Connection', 'close')
        this.#hear(place, request, response).catch((error: unknown) => {
          this.heard.push(String(error))
          response.destroy()
        })
      }),
    )
  }

  static async open(): Promise<Net> {
    const net = new Net()
    for (const server of net.#servers) await once(server.listen(0, '127.0.0.1'), 'listening')
    return net
  }

  origin(at: 0 | 1 = 0): string {
    return `http://127.0.0.1:${(this.#servers[at]!.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  async #hear(place: 'api' | 'away', request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const body = (await buffer(request)).toString('latin1')
    const { method = '', url = '' } = request
    const { authorization = 'no token', dpop, 'x-tenant': tenant } = request.headers
    const nonce = dpop === undefined ? undefined : nonceIn(dpop, authorization, method, this.origin() + url)
    this.heard.push(JSON.stringify([place, method, url, authorization, nonce, tenant, body]))
    const id = url.split('/')[1]!
    await this.held.get(id)
    const turn = place === 'away' ? undefined : this.turns.get(id)?.shift()
    const challenged = (text: string, headers: object = {}) =>
      response.writeHead(401, { 'WWW-Authenticate': text, ...headers }).end()
    switch (turn) {
      case undefined:
        return response.end('{}')
      case '401':
        return challenged('Bearer error="invalid_token"')
      case 'scope':
        return challenged('Bearer error="insufficient_scope"')
      case 'step-up':
        return challenged('Bearer error="insufficient_user_authentication"')
      case 'nonce':
        return challenged('DPoP error="use_dpop_nonce"', { 'DPoP-Nonce': `nonce-${this.heard.length}` })
      case '307':
      case '303':
        return response.writeHead(Number(turn), { Location: `${url}/next` }).end()
      case '307 away':
        return response.writeHead(307, { Location: `${this.origin(1)}${url}/away` }).end()
      case 'cut':
        return response.destroy()
      case '503':
        return response.writeHead(503).end()
    }
  }
}

/** @returns The nonce of a proof. @throws unless the proof is for this token and this request. */
function nonceIn(dpop: unknown, authorization: string, method: string, url: string): string {
  const { htm, htu, ath, nonce = 'none' } = verified(dpop).claims
  const token = authorization.replace('DPoP ', '')
  if (htm !== method || htu !== url || ath !== sha256(token))
    throw new Error(`a proof for ${htm} ${htu}, not for ${url}`)
  return nonce
}

/** @returns The requests that this attachment sent, and how each ended. */
export async function travelThrough(
  door: Door,
  course: DoorCourse,
  net: Net,
  key: DPoPKey,
  met: Met,
): Promise<string[]> {
  const voyage = new DoorVoyage(door, course, net, key, met)
  try {
    for (const act of course.acts) await voyage.perform(act)
    return await voyage.end()
  } finally {
    await voyage.close()
  }
}

const LIFETIME_MS = 600_000

class DoorVoyage {
  readonly #clock = manualClock()
  readonly #tokens: LoginManager
  readonly #send: Send
  readonly #net: Net
  readonly #met: Met
  readonly #objects: Objects
  /** The pending requests, and the function that makes the API respond to them. */
  readonly #open: { release: () => void; ended: Promise<string> }[] = []
  readonly #ends: string[] = []
  #issued = 0
  #asked = 0

  constructor(door: Door, { hasKey, isShared }: DoorCourse, net: Net, key: DPoPKey, met: Met) {
    const refresh = async (refreshToken: string) => this.#grant(refreshToken.split('-')[0]!)
    const obtain = () => Promise.reject(new Error('a login is never obtained'))
    const source = { id: 'doors', login: person, obtain, refresh }
    this.#tokens = createTokenManager({ source, clock: this.#clock, random: () => 0 })
    this.#send = door.open(this.#tokens, { origins: [net.origin()], ...(hasKey && { dpop: key }) })
    this.#objects = new Objects(isShared)
    this.#net = net
    this.#met = met
    if (hasKey) met.proven += 1
    if (isShared) met.shared += 1
    net.heard = []
    net.turns.clear()
    net.held.clear()
  }

  async perform(act: DoorAct): Promise<void> {
    // Otherwise the manager would not replace another token so soon.
    await this.#clock.advance(10_000)
    if (act.act === 'request') await this.#request(act)
    else if (act.act === 'login') await this.#tokens.adopt({ ...this.#grant(act.who), subject: act.who })
    else if (act.act === 'logout') await this.#tokens.logout()
    else await this.#clock.advance(LIFETIME_MS)
    await settle()
  }

  /** The API sends the held responses, one after another. */
  async end(): Promise<string[]> {
    for (const { release, ended } of this.#open) {
      await this.#clock.advance(10_000)
      release()
      this.#ends.push(await ended)
    }
    const { heard } = this.#net
    this.#met.sent += heard.length
    this.#met.again += Math.max(0, heard.length - this.#asked)
    this.#met.elsewhere += heard.filter((one) => one.startsWith('["away"')).length
    this.#met.notSent += this.#ends.filter((one) => one.includes('ERR_LOGIN_REQUIRED')).length
    return [...heard, ...this.#ends]
  }

  close(): Promise<void> {
    for (const { release } of this.#open) release()
    return this.#tokens.close()
  }

  #grant(who: string) {
    const [accessToken, refreshToken] = [`${who}-${(this.#issued += 1)}`, `${who}-refresh-${this.#issued}`]
    return { accessToken, accessLifetimeMs: LIFETIME_MS, refreshToken, refreshLifetimeMs: 100 * LIFETIME_MS }
  }

  async #request({ method, body, headers, turns, isAwaited }: DoorRequest): Promise<void> {
    const id = `${(this.#asked += 1)}`
    const word = `word-${id}--`
    // Node 20's fetch itself cannot send bytes again after a redirect.
    const isText = body.endsWith('Buffer') && turns.some((turn) => turn.startsWith('307'))
    const forms = [method === 'get' ? DATA.none : DATA[isText ? 'text' : body], HEADERS[headers]]
    const given = forms.map((form) => this.#objects.give(form, word))
    const asked: Record<string, unknown> = { method: method.toUpperCase() }
    for (const [n, name] of ['body', 'headers'].entries()) if (given[n] !== undefined) asked[name] = given[n]
    this.#net.turns.set(id, [...turns])
    let release = () => {}
    this.#net.held.set(id, new Promise((resolve) => (release = resolve)))
    const before = this.#net.heard.length
    const watched = { hasEnded: false }
    const ended = this.#send(`${this.#net.origin()}/${id}`, asked as Asked).then(
      ({ status }) => String(status),
      (error: unknown) => (error instanceof TokenError ? error.code : 'failed'),
    )
    void ended.then(() => (watched.hasEnded = true))
    for (const [n, form] of forms.entries()) this.#objects.scramble(form, given[n])
    Object.assign(asked, { method: 'DELETE', body: 'changed', headers: { 'X-Tenant': 'changed' } })
    while (!watched.hasEnded && this.#net.heard.length === before) await new Promise((resolve) => setImmediate(resolve))
    if (!isAwaited) {
      this.#open.push({ release, ended })
      return
    }
    release()
    this.#ends.push(await ended)
  }
}
