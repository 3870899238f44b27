import { asGiven, readOptions } from '../core/option-checks.ts'
import { attachCredentials } from '../core/attach-credentials.ts'
import type { ExchangeContext, TokenGrant, TokenSource } from '../core/token-source.ts'
import { lifetimeIn } from '../wire/lifetime.ts'
import { CREDENTIAL_OPTIONS, credentialSource, type ProvidedCredentials } from './credentials.ts'
import { TokenDocument, VARIANT_A, VARIANT_B } from './token-document.ts'
import type { TokenServiceOptions } from '../wire/token-call.ts'
import { SERVICE_OPTIONS, TokenEndpoint } from './token-endpoint.ts'

export type ClientCredentialsOptions = TokenServiceOptions & (Client | ProvidedCredentials<Client>)

/** The credentials of Variant A (specification, section 2.1). */
export interface Client {
  clientId: string
  clientSecret: string
}

/**
 * The token source of Variant A (specification, sections 2.1, 2.2, 4.1 and 7.1). Each renewal exchanges `client_id` and
 * `client_secret` for an access token.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises'
 * import { clientCredentials } from 'axios-evergreen'
 *
 * const source = clientCredentials({
 *   baseUrl: 'https://payments.example.com/api',
 *   account: 'bakery',
 *   credentials: async () => JSON.parse(await readFile('/run/secrets/payments.json', 'utf8')), // { clientId, clientSecret }
 * })
 * ```
 * @throws {TypeError} naming the option.
 */
export function clientCredentials(options: ClientCredentialsOptions): TokenSource {
  return new ClientCredentialsSource(options)
}

class ClientCredentialsSource implements TokenSource {
  readonly #endpoint: TokenEndpoint
  readonly #client

  constructor(options: ClientCredentialsOptions) {
    const table = { ...SERVICE_OPTIONS, clientId: asGiven, clientSecret: asGiven, ...CREDENTIAL_OPTIONS }
    const own = readOptions('The options of clientCredentials', options, table, '')
    this.#endpoint = new TokenEndpoint(own, VARIANT_A)
    this.#client = credentialSource(own, ['clientId', 'clientSecret'])
    attachCredentials(this, () => this.#client.fixed)
  }

  // Accessors, so that id and origin are not printed with the source.
  get id(): string {
    const { account } = this.#client
    return account === '' ? '' : `variant-a ${this.#endpoint.href} ${account}`
  }

  get origin(): string {
    return this.#endpoint.origin
  }

  async obtain(context: ExchangeContext): Promise<TokenGrant> {
    const { clientId, clientSecret } = await this.#client.get(context)
    const attributes = { client_id: clientId, client_secret: clientSecret }
    const response = await this.#endpoint.post('obtain', attributes, context)
    return readGrant(new TokenDocument(response, 'wrapped'), context)
  }
}

/**
 * Reads the obtain response of Variant A (specification, section 2.2): `access`, `expires_in` in seconds, `token_type`.
 *
 * @throws {TokenError} `ERR_TOKEN_RESPONSE` if `access` or `expires_in` is missing or unusable, or `token_type` is not Bearer. A missing `token_type` or `id`
 *   is only reported.
 */
function readGrant(document: TokenDocument, { report }: ExchangeContext): TokenGrant {
  if (document.attribute('expires_in') === undefined && document.attribute('access_expired_at') !== undefined)
    throw document.unusable(`it uses ${VARIANT_B}`)
  const accessToken = document.text('access')
  const accessLifetimeMs = lifetimeMs(document, report)
  const tokenType = document.attribute('token_type')
  if (tokenType === undefined)
    report?.('unexpected-response', 'The token response has no token_type: Bearer is assumed')
  else if (typeof tokenType !== 'string' || tokenType.toLowerCase() !== 'bearer')
    throw document.wrong('attributes.token_type', 'Bearer')
  if (!document.hasId) report?.('unexpected-response', 'The token response has no id')
  return { accessToken, accessLifetimeMs }
}

function lifetimeMs(document: TokenDocument, report: ExchangeContext['report']): number {
  const expiresIn = document.attribute('expires_in')
  const ms = lifetimeIn(expiresIn)
  if (ms === undefined) throw document.wrong('attributes.expires_in', 'a positive number of seconds')
  if (typeof expiresIn === 'string') report?.('unexpected-response', 'The token response has expires_in as text')
  return ms
}
