import axios, { type AxiosInstance, type CreateAxiosDefaults } from 'axios'
import {
  attachBearer,
  type AttachOptions,
  clientCredentials,
  loginPassword,
  createTokenManager,
  type TokenManager,
  type TokenManagerOptions,
} from '../../src/index.ts'
import { type SimulatedService, type SimulatedServiceOptions, startTokenService } from '../../tools/testing/index.ts'

export function startService(options?: SimulatedServiceOptions): Promise<SimulatedService> {
  return startTokenService(options)
}

export function clientCredentialsOf({ baseUrl, client }: SimulatedService) {
  return { baseUrl, ...client }
}

export interface World {
  readonly service: SimulatedService
  readonly tokens: TokenManager
  readonly api: AxiosInstance
  readonly end: () => Promise<void>
}

/** The simulated service, a manager of its client, and an instance of its API with the token attached: real sockets. */
export async function startWorld(
  settings: {
    service?: SimulatedServiceOptions
    manager?: Partial<TokenManagerOptions>
    axios?: CreateAxiosDefaults
    attach?: AttachOptions
    variant?: 'A' | 'B'
  } = {},
): Promise<World> {
  const service = await startService(settings.service)
  const { baseUrl, client, login } = service
  const source =
    settings.variant === 'B' ? loginPassword({ baseUrl, ...login }) : clientCredentials({ baseUrl, ...client })
  const tokens = createTokenManager({ source, ...settings.manager })
  const api = axios.create({ baseURL: service.baseUrl, ...settings.axios })
  attachBearer(api, tokens, settings.attach)
  return {
    service,
    tokens,
    api,
    async end() {
      await tokens.close()
      await service.close()
    },
  }
}
