import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { member, parsed } from './protocol.ts'
import type { Seen } from './recorder.ts'

/** The two ways to send a secret (RFC 6749, section 2.3.1), by their names in metadata (RFC 8414). */
const WAYS = { client_secret_basic: 'basic', client_secret_post: 'post' } as const
type Way = (typeof WAYS)[keyof typeof WAYS]

/** The authentication method of the client, from the metadata of the server. Without metadata the doctor tries the header first, then the body. */
export class ClientProof {
  readonly #metadata: readonly Seen[]
  readonly #refused: Way[] = []
  /** The method that was tried last. */
  used: Way | 'none' | undefined

  constructor(metadata: readonly Seen[]) {
    this.#metadata = metadata
  }

  /** @returns The option `clientAuthentication` of `oauth2()`. */
  authentication(secret: string | undefined): Exclude<OAuth2Options['clientAuthentication'], string | undefined> {
    return (_, { client_id }, body, headers) => {
      this.used = secret === undefined ? 'none' : this.#next
      if (this.used !== 'basic') body.set('client_id', client_id)
      if (this.used === 'post') body.set('client_secret', secret ?? '')
      if (this.used === 'basic')
        headers.set('Authorization', `Basic ${btoa(`${encoded(client_id)}:${encoded(secret ?? '')}`)}`)
    }
  }

  /** Whether the client was rejected, and another way to send its secret is left. Notes the way that was rejected. */
  mayTryAgain(code: string | undefined): boolean {
    if (code !== 'ERR_CREDENTIALS_REJECTED' || this.used === undefined || this.used === 'none') return false
    this.#refused.push(this.used)
    return this.#ways.some((way) => !this.#refused.includes(way))
  }

  get #next(): Way {
    return this.#ways.find((way) => !this.#refused.includes(way)) ?? 'basic'
  }

  /** The methods that the server supports. If the doctor knows none of them, both are tried. */
  get #ways(): readonly Way[] {
    const named = this.#metadata
      .map(({ text }) => member(parsed(text), 'token_endpoint_auth_methods_supported'))
      .find(Array.isArray)
    const known = Object.entries(WAYS).filter(([name]) => named?.includes(name))
    return (known.length > 0 ? known : Object.entries(WAYS)).map(([, way]) => way)
  }
}

/** Encodes a text as in a form, before base64 (RFC 6749, section 2.3.1). */
function encoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
