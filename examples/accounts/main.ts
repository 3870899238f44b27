// Many accounts in one process: a manager and an instance for each, made when they are first needed: npm run example accounts
import axios, { type AxiosInstance } from 'axios'
import { attachBearer, createTokenManager, loginPassword, type TokenManager } from 'axios-evergreen'
import { startTokenService, type SimulatedService } from 'axios-evergreen/testing'

/** Here each merchant has a service of its own, because a simulated service knows one account. */
const services = new Map<string, SimulatedService>()
for (const merchant of ['bakery', 'florist', 'garage']) services.set(merchant, await startTokenService())

class Merchants {
  readonly #clients = new Map<string, { api: AxiosInstance; tokens: TokenManager }>()

  of(merchant: string): AxiosInstance {
    const known = this.#clients.get(merchant)
    if (known) return known.api
    const { baseUrl, login } = services.get(merchant)!
    const tokens = createTokenManager({ source: loginPassword({ baseUrl, ...login }) })
    const api = axios.create({ baseURL: baseUrl })
    attachBearer(api, tokens)
    this.#clients.set(merchant, { api, tokens })
    return api
  }

  /** Removes an account: ends its timers, and forgets its tokens. */
  async forget(merchant: string): Promise<void> {
    await this.#clients.get(merchant)?.tokens.close()
    this.#clients.delete(merchant)
  }
}

const merchants = new Merchants()
const names = [...services.keys()]
await Promise.all([...names, ...names, ...names].map((name) => merchants.of(name).get('/wallet')))
for (const [name, service] of services)
  console.log(`${name}: ${service.count('resource')} requests, ${service.count('obtain')} token request`)

for (const name of names) await merchants.forget(name)
for (const service of services.values()) await service.close()
