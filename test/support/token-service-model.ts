import type { Clock } from '../../src/index.ts'
import { serviceSettings } from '../../tools/testing/service-options.ts'
import { type Reply, mediaType, readAttributes } from '../../tools/testing/token-document.ts'
import { tokenEndpoint } from '../../tools/testing/token-endpoint.ts'
import { TokenLedger } from '../../tools/testing/token-ledger.ts'
import type { ReadRequest, Service } from './scripted-server.ts'

/** A refresh token, as the service knows it. */
export interface IssuedRefresh {
  readonly token: string
  /** The access token that came with it. */
  readonly access: string
  /** How often the service has read a request with this token, whatever happened to the request. */
  presentations: number
  /** Whether the service has acted on a refresh with this token. */
  isSpent: boolean
}

/**
 * The token service of the specification behind any transport, both variants: signed obtains, single-use refresh tokens. It acts
 * in `commit` only.
 */
export class TokenServiceModel implements Service {
  readonly client = { clientId: 'api-key-of-nobody', clientSecret: 'api-secret-of-nobody' }
  readonly login = { login: 'api-key-of-nobody', password: 'api-secret-of-nobody' }
  /** Requested exchanges, oldest first. */
  readonly heard: ('obtain' | 'refresh')[] = []
  /** Access tokens issued, oldest first. */
  readonly issued: string[] = []
  /** Refresh tokens issued by obtains and refreshes, oldest first. */
  readonly refreshTokens: IssuedRefresh[] = []
  readonly #clock: Clock
  readonly #answer
  #commits = 0

  constructor(clock: Clock, lifetimes: { accessLifetimeMs?: number; refreshLifetimeMs?: number } = {}) {
    this.#clock = clock
    const settings = serviceSettings(lifetimes)
    this.#answer = tokenEndpoint(settings, new TokenLedger(settings), this.client, this.login)
  }

  /** E.g. `spent 1, live 0`: the refresh tokens in order of issue, each with the number of its presentations. */
  get story(): string {
    return this.refreshTokens
      .map(({ isSpent, presentations }) => `${isSpent ? 'spent' : 'live'} ${presentations}`)
      .join(', ')
  }

  hear(request: ReadRequest): void {
    this.heard.push(kindOf(request))
    const presented = this.#presented(request)
    if (presented) presented.presentations += 1
  }

  commit(request: ReadRequest): Reply {
    const { head, body } = request
    // Two responses of one instant would look like a replay.
    const now = this.#clock.wallNow() + (this.#commits++ % 1_000) / 1_000
    const contentType = head.toLowerCase().includes(`content-type: ${mediaType}`) ? mediaType : undefined
    const answer = this.#answer({ kind: kindOf(request), method: head.split(' ')[0]!, contentType, body }, now)
    if (answer.status === 200) this.#note(request, answer)
    return answer
  }

  #note(request: ReadRequest, { body }: Reply): void {
    const document = JSON.parse(body) as { data?: TokenObject } & TokenObject
    const { access, refresh } = (document.data ?? document).attributes
    this.issued.push(access)
    const presented = this.#presented(request)
    if (presented) presented.isSpent = true
    if (refresh !== undefined) this.refreshTokens.push({ token: refresh, access, presentations: 0, isSpent: false })
  }

  #presented({ body }: ReadRequest): IssuedRefresh | undefined {
    const { refresh } = readAttributes(body)
    return this.refreshTokens.find(({ token }) => token === refresh)
  }
}

interface TokenObject {
  readonly attributes: { readonly access: string; readonly refresh?: string }
}

function kindOf({ path }: ReadRequest): 'obtain' | 'refresh' {
  return path.endsWith('/token/refresh/') ? 'refresh' : 'obtain'
}
