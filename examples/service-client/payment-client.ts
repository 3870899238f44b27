import axios, { type AxiosInstance } from 'axios'
import { attachBearer, clientCredentials, createTokenManager, isTokenError, type TokenManager } from 'axios-evergreen'

export interface Payment {
  amount: number
  currency: string
}

/** A client of the payment API. Its users never see a token. */
export class PaymentClient {
  readonly #api: AxiosInstance
  readonly #tokens: TokenManager

  constructor(options: { baseUrl: string; clientId: string; clientSecret: string }) {
    const { baseUrl, clientId, clientSecret } = options
    this.#tokens = createTokenManager({ source: clientCredentials({ baseUrl, clientId, clientSecret }) })
    this.#api = axios.create({ baseURL: baseUrl, timeout: 30_000 })
    attachBearer(this.#api, this.#tokens)
  }

  async pay(payment: Payment): Promise<string> {
    try {
      const { data } = await this.#api.post<{ body: string }>('/payments', payment)
      return data.body
    } catch (error) {
      if (!isTokenError(error)) throw error
      // The payment was not sent: the caller may try it again without harm.
      throw new Error(`No payment was made (${error.code})`, { cause: error })
    }
  }

  close(): Promise<void> {
    return this.#tokens.close()
  }
}
