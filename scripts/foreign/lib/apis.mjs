/** The API of the simulated token service, over real sockets. */
export class ServiceApi {
  #service

  constructor(service) {
    this.#service = service
    this.baseUrl = service.baseUrl
  }

  /** The statuses of the responses so far, oldest first. */
  get served() {
    return this.#service.log.filter(({ kind }) => kind === 'resource').map(({ status }) => status)
  }

  failNext(status, { times = 1, ...answer } = {}) {
    this.#service.failNext('resource', { status, ...answer }, times)
  }

  revokeTokens() {
    this.#service.revokeAccessTokens()
  }
}

/** The API of a library that mocks. The library asks it how to respond. */
export class MockedApi {
  baseUrl = 'https://api.example.com'
  served = []
  #good = new Set()
  #faults = []

  /** @returns `{ status, headers, body }` for a request with this `Authorization`. */
  answer(authorization) {
    const fault = this.#faults.shift()
    const isGood = this.#good.has(String(authorization).replace(/^Bearer /, ''))
    const { status, headers = {} } = fault ?? { status: isGood ? 200 : 401 }
    this.served.push(status)
    return { status, headers, body: { answered: status } }
  }

  failNext(status, { times = 1, headers } = {}) {
    for (let n = 0; n < times; n += 1) this.#faults.push({ status, headers })
  }

  issued(token) {
    this.#good.add(token)
  }

  revokeTokens() {
    this.#good.clear()
  }
}
