import axios, { type AxiosInstance, type CreateAxiosDefaults } from 'axios'
import {
  attachBearer,
  type Attachment,
  clientCredentials,
  createTokenManager,
  loginPassword,
  memoryStore,
  type TokenManager,
  type TokenManagerOptions,
  type TokenSource,
  type TokenStore,
} from '../../../src/index.ts'
import type { LoginManager } from '../../../src/login/index.ts'
import { listen } from '../../support/managed.ts'
import { manualClock, type ManualClock } from '../../../tools/testing/manual-clock.ts'
import { type MarkedService, SECRETS, startMarkedService } from './marked-service.ts'

export type Variant = 'A' | 'B'
export type AdapterName = 'http' | 'fetch'

/** What differs from the usual stage. */
export interface Setting {
  /** A function instead of the two credentials. `nth`: the number of the call. */
  readonly credentials?: (nth: number) => unknown
  /** Instead of the `baseUrl` of the service. */
  readonly baseUrl?: string
  readonly transport?: object
  /** Instead of a source of the library. */
  readonly source?: (service: MarkedService) => TokenSource
  readonly manager?: Partial<TokenManagerOptions>
  readonly instance?: CreateAxiosDefaults
}

/** A program, its token service and its API. There are secrets in all places that can hold one. */
export interface Stage {
  readonly clock: ManualClock
  readonly service: MarkedService
  readonly tokens: TokenManager
  readonly api: AxiosInstance
  readonly told: ReturnType<typeof listen>
  /** What else the library has made for the program. */
  readonly made: readonly (TokenSource | TokenStore | Attachment)[]
}

export async function startStage(variant: Variant, adapter: AdapterName, setting: Setting = {}): Promise<Stage> {
  const clock = manualClock()
  const service = await startMarkedService(variant, clock)
  const custom = setting.source?.(service)
  const source = custom ?? markedSource(variant, adapter, service, setting)
  const store = memoryStore()
  const options = { source, store, storeKey: SECRETS.login, clock, random: () => 0, ...setting.manager }
  const tokens = createTokenManager(options) as LoginManager
  const told = listen(tokens)
  // Time advances by itself only while the manager pauses between two calls.
  tokens.on('retry', ({ delayMs }) => clock.advance(delayMs))
  // An error of a listener must not reach any other code.
  for (const name of Object.keys(told) as (keyof typeof told)[])
    tokens.on(name, () => Promise.reject(new Error(SECRETS.body)))
  const api = axios.create({ baseURL: service.origin, adapter, ...setting.instance })
  const attachment = attachBearer(api, tokens, { origins: [service.origin] })
  return { clock, service, tokens, api, told, made: [store, attachment, ...(custom ? [] : [source])] }
}

function markedSource(variant: Variant, adapter: AdapterName, service: MarkedService, setting: Setting): TokenSource {
  const { clientId, clientSecret, login, password, query, header } = SECRETS
  const { credentials } = setting
  let asked = 0
  const account = variant === 'A' ? { clientId, clientSecret } : { login, password }
  const options = {
    baseUrl: setting.baseUrl ?? `${service.origin}/api?key=${query}`,
    transport: { adapter, headers: { 'X-Gateway-Key': header }, ...setting.transport },
    ...(credentials ? { credentials: () => credentials(++asked), account: login } : account),
  }
  return variant === 'A' ? clientCredentials(options as never) : loginPassword(options as never)
}
