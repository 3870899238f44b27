// A client with one operation, in the shape that openapi-generator (typescript-axios) gives it.
import globalAxios, { type AxiosInstance, type AxiosPromise, type RawAxiosRequestConfig } from 'axios'

export class Configuration {
  basePath?: string
  accessToken?: string | (() => Promise<string>)
  constructor(param: { basePath?: string; accessToken?: string | (() => Promise<string>) } = {}) {
    Object.assign(this, param)
  }
}

export interface Wallet {
  method: string
  path: string
}

export class BaseAPI {
  constructor(
    protected configuration?: Configuration,
    protected basePath: string = configuration?.basePath ?? 'http://localhost',
    protected axios: AxiosInstance = globalAxios,
  ) {}
}

export class WalletApi extends BaseAPI {
  public getWallet(id: string, options: RawAxiosRequestConfig = {}): AxiosPromise<Wallet> {
    return this.axios.request({
      method: 'GET',
      ...options,
      url: `${this.basePath}/wallets/${encodeURIComponent(id)}`,
    })
  }
}
