import type { ReadThrown } from '../core/account.ts'
import { isTokenError } from '../core/errors.ts'
import type { LoginLayer } from '../core/login-layer.ts'
import { member } from '../core/thrown.ts'
import {
  CHALLENGED,
  CREDENTIALS,
  type Exchange,
  type ExchangeContext,
  INTERNAL,
  internalOf,
  offers,
  type PackageContext,
  type TokenGrant,
  type TokenSource,
} from '../core/token-source.ts'
import { bare } from '../core/whole.ts'
import { isRefused, refusal } from './refusals.ts'
import type { Resource } from './resource-options.ts'

/** What a source of this package requests for a resource. */
export interface SourceRequests {
  /** @param settings Those of the source. */
  sourceFor(settings: object): object | undefined
  /** The API has rejected a token. @param challenge `WWW-Authenticate`. */
  challenged(challenge: unknown): void
}

export interface ResourceSourceOptions {
  readonly source: TokenSource
  readonly resource: Resource
  readonly requests: SourceRequests
  /** Whether the resource has a record of its own. Then two resources must not share a key. */
  readonly isSeparate: boolean
  readonly login: LoginLayer | undefined
  readonly readThrown: ReadThrown
}

/** Requests the tokens of one resource from the source of a manager. */
export class ResourceSource implements TokenSource {
  readonly #options: ResourceSourceOptions
  declare readonly origin?: string
  declare readonly boundTo?: Promise<string>
  declare readonly login?: LoginLayer
  declare readonly refresh?: NonNullable<TokenSource['refresh']>
  readonly refreshTokens: TokenSource['refreshTokens']
  readonly reuseGraceMs: number | undefined

  constructor(options: ResourceSourceOptions) {
    const { source, login, requests } = options
    this.#options = options
    this.refreshTokens = member(source, 'refreshTokens') as TokenSource['refreshTokens']
    this.reuseGraceMs = member(source, 'reuseGraceMs') as number | undefined
    if (login) this.login = login
    for (const name of ['origin', 'boundTo'] as const)
      if (member(source, name) !== undefined) Object.defineProperty(this, name, { value: member(source, name) })
    if (offers(source, 'refresh'))
      this.refresh = (refreshToken, context) =>
        this.#asked('refresh', context, (about) => source.refresh(refreshToken, about))
    const read = member(source, CREDENTIALS)
    if (typeof read === 'function')
      Object.defineProperty(this, CREDENTIALS, { value: () => Reflect.apply(read, source, []) as unknown })
    if (member(source, CHALLENGED) !== undefined)
      Object.defineProperty(this, CHALLENGED, { value: (challenge: unknown) => requests.challenged(challenge) })
  }

  // An accessor, so that the id is not printed with the source. All resources of a login have the same id, because fingerprints of the user depend on it.
  get id(): string {
    const { source, resource, isSeparate } = this.#options
    return isSeparate ? `${source.id} ${resource.key}` : source.id
  }

  obtain(context: ExchangeContext): Promise<TokenGrant> {
    return this.#asked('obtain', context, (about) => this.#options.source.obtain(about))
  }

  async #asked(
    exchange: Exchange,
    context: PackageContext,
    ask: (context: ExchangeContext) => Promise<TokenGrant>,
  ): Promise<TokenGrant> {
    const { resource, requests, readThrown, isSeparate } = this.#options
    const internal = {
      ...internalOf(context),
      sourceFor: (settings: never) => requests.sourceFor(settings) as never,
    }
    const about: PackageContext = Object.freeze(bare({ ...context, resource: resource.options, [INTERNAL]: internal }))
    try {
      return await ask(about)
    } catch (thrown) {
      if (isSeparate) throw thrown
      const error = isTokenError(thrown) ? thrown : readThrown(thrown, exchange, true)
      throw isRefused(error) ? refusal(error) : thrown
    }
  }
}
