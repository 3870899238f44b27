import { quietly } from '../core/thrown.ts'
import type { TokenResponse } from './token-response.ts'

/** What a response shows about its sender. */
export interface Shown {
  readonly status: number | undefined
  /** `WWW-Authenticate`. */
  readonly challenge?: unknown
  /** `Content-Type`. */
  readonly type?: unknown
  /** Undefined if the body was not read. */
  readonly text?: string | undefined
}

export function shownBy({ status, headers, text, flaw }: TokenResponse): Shown {
  const [challenge, type] = [headers.get('www-authenticate'), headers.get('content-type')]
  return { status, challenge, type, text: flaw === undefined ? text : undefined }
}

/**
 * Whether an intermediary has responded instead of the service, such as a firewall or a captive portal. Token services respond with JSON or with a
 * challenge (RFC 9110, section 15.5.2).
 */
export function isOfIntermediary({ status, challenge, type, text }: Shown): boolean {
  return [400, 401, 403, 429].includes(status ?? 0) && (challenge ?? '') === '' && isPage(type, text)
}

/** Whether a body is HTML or XML. Some servers send JSON, or nothing, as `text/html`. */
export function isPage(type: unknown, text: string | undefined): boolean {
  if (/^\s*</.test(text ?? '')) return true
  return (
    /html|xml/i.test(String(type)) && text !== '' && quietly(() => JSON.parse(String(text)) as unknown) === undefined
  )
}
