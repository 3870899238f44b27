import axios, { AxiosError } from 'axios'
import { attachBearer, createTokenManager, TokenError } from '../../../dist/index.js'
import { withBearer } from '../../../dist/fetch.js'
import { person } from '../../../dist/login.js'
import { sharedStore } from '../../../dist/store.js'

const URL_OF_API = 'https://api.example.com/wallet'

/** A token service in memory. It works, or fails as `fault` says. */
export class Service {
  fault = undefined
  calls = 0
  #n = 0
  #clock
  #dice
  /** Access tokens that the API accepts, and until when. */
  #valid = new Map()

  constructor(clock, dice) {
    this.#clock = clock
    this.#dice = dice
  }

  /** @param login A rule for sources of users; undefined: an account that may obtain. */
  source(id, login) {
    const exchange = (_, context) => this.#exchange((context ?? _).signal)
    const source = { id, origin: 'https://id.example.com', obtain: exchange, refresh: exchange }
    return login ? { ...source, login, obtain: () => Promise.reject(loginRequired()) } : source
  }

  issued() {
    const n = (this.#n += 1)
    const accessLifetimeMs = this.#dice.whole(300_000, 1_200_000)
    const now = this.#clock.monotonicNow()
    this.#valid.set(`access-${n}`, now + accessLifetimeMs)
    if (n % 1_000 === 0) for (const [token, until] of this.#valid) if (until < now) this.#valid.delete(token)
    return { accessToken: `access-${n}`, accessLifetimeMs, refreshToken: `refresh-${n}`, refreshLifetimeMs: 86_400_000 }
  }

  isValid(header) {
    return this.#valid.get(String(header).slice('Bearer '.length)) > this.#clock.monotonicNow()
  }

  revokeAll() {
    this.#valid.clear()
  }

  async #exchange(signal) {
    this.calls += 1
    const { fault } = this
    await new Promise((resolve) => this.#clock.setTimer(resolve, this.#dice.whole(5, 400)))
    if (fault === 'silent')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    if (fault === 'down') throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'responded with 503', { status: 503 })
    if (fault === 'busy')
      throw new TokenError('ERR_THROTTLED', 'responded with 429', { status: 429, retryAfterMs: 30_000 })
    if (fault === 'refusing') throw new TokenError('ERR_REFRESH_REJECTED', 'invalid_grant', { refreshToken: 'dead' })
    return this.issued()
  }
}

const loginRequired = () => new TokenError('ERR_LOGIN_REQUIRED', 'a user must log in')

/** A register in memory. Its steps take a drawn time, or fail as `fault` says. */
export class Register {
  kind = 'memory'
  fault = undefined
  values = new Map()
  watchers = new Set()

  constructor(clock, dice) {
    this.read = async (key) => {
      await this.#step(clock, dice)
      return { now: clock.wallNow(), value: this.values.get(key) }
    }
    this.replace = async (key, expected, value) => {
      await this.#step(clock, dice)
      if (this.values.get(key) !== expected) return false
      this.values.set(key, value)
      for (const onChange of this.watchers) onChange(key)
      return true
    }
    this.watch = (onChange) => (this.watchers.add(onChange), () => this.watchers.delete(onChange))
    this.isWatching = () => this.fault === undefined
  }

  async #step(clock, dice) {
    if (this.fault === 'silent') return new Promise(() => undefined)
    await new Promise((resolve) => clock.setTimer(resolve, dice.whole(0, 20)))
    if (this.fault === 'down') throw new Error('The store is down')
  }
}

/** A user of the package: a manager, an axios instance and a fetch, which are replaced together. */
export class User {
  #world
  #name
  /** Users with the same name share a login, as two processes would. */
  constructor(world, { name, isLogin, store }) {
    Object.assign(this, { isLogin, store })
    this.#world = world
    this.#name = name
    this.begin()
  }

  begin() {
    const { clock, service, events } = this.#world
    const source = service.source(this.#name, this.isLogin ? person : undefined)
    this.tokens = createTokenManager({
      source,
      clock,
      storeKey: this.#name,
      ...(this.store && { store: this.store() }),
    })
    this.stop = this.tokens.onAny((name) => (events[name] = (events[name] ?? 0) + 1))
    this.api = axios.create({ adapter: (config) => this.#answer(config) })
    attachBearer(this.api, this.tokens, { origins: ['https://api.example.com'] })
    this.fetch = withBearer((request, init) => this.#fetched(request, init), this.tokens, {
      origins: ['https://api.example.com'],
    })
  }

  adopt() {
    return this.tokens.adopt(this.#world.service.issued())
  }

  async end() {
    this.stop()
    await this.tokens.close()
  }

  /** One request, by axios, by fetch, or for the token only. */
  request(n, signal) {
    if (n % 3 === 0) return this.api.get(URL_OF_API, { signal })
    if (n % 3 === 1) return this.fetch(URL_OF_API, { signal })
    return this.tokens.getAccessToken({ signal })
  }

  async #answer(config) {
    const status = this.#world.service.isValid(config.headers.get('Authorization')) ? 200 : 401
    const response = { data: '', status, statusText: '', headers: {}, config, request: {} }
    if (status === 200) return response
    throw new AxiosError('401', 'ERR_BAD_REQUEST', config, undefined, response)
  }

  async #fetched(request, init) {
    const headers = new Headers(init?.headers ?? request.headers)
    return new Response(null, { status: this.#world.service.isValid(headers.get('authorization')) ? 200 : 401 })
  }
}

/** A store object of its own, as another process would have. */
export const storesOn = (register) => () => sharedStore(register, { onUnavailable: 'fail' })
