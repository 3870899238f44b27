import type { AxiosHeaders } from 'axios'

/** A complete answer to a token call. */
export interface TokenResponse {
  readonly status: number
  readonly url: URL
  /** The exchange, origin and path, for messages. */
  readonly address: string
  readonly text: string
  /** Why the body cannot be read: `text` is empty then. */
  readonly flaw?: string | undefined
  readonly headers: AxiosHeaders
  /** The pause that `Retry-After` asks for, ms; undefined if the header is missing or malformed. */
  readonly retryAfterMs: number | undefined
  /** The headers that were sent, which an answer may echo. */
  readonly sent: readonly unknown[]
  /** Names the proxy, for messages. */
  readonly proxy?: string | undefined
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}
