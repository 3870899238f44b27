import type { AxiosHeaders } from 'axios'

/** A complete response to a token request. */
export interface TokenResponse {
  readonly status: number
  readonly url: URL
  /** The origin, the path and the exchange, for messages. */
  readonly address: string
  readonly text: string
  /** Why the body cannot be read. `text` is then empty. */
  readonly flaw?: string | undefined
  readonly headers: AxiosHeaders
  /** The pause that `Retry-After` asks for, ms; undefined if the header is missing, repeated or malformed. */
  readonly retryAfterMs: number | undefined
  /** The values of the headers of the request, which a response may echo. */
  readonly sent: readonly unknown[]
  /** The proxy, for messages. */
  readonly proxy?: string | undefined
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}
