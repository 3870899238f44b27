import type { IncomingHttpHeaders } from 'node:http'

/** What lets a page of any origin read an answer (Fetch Standard, CORS protocol). No cookies are involved, so `*` suffices. */
export const CROSS_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, Date, WWW-Authenticate, DPoP-Nonce',
}

/** @returns The headers that answer a preflight; undefined if the request is none. */
export function preflightAnswer(
  method: string,
  { [METHOD]: wanted, [HEADERS]: names = '' }: IncomingHttpHeaders,
): Record<string, string> | undefined {
  if (method !== 'OPTIONS' || wanted === undefined) return undefined
  // `*` in place of the names would not cover `Authorization`.
  const allowed = { 'Access-Control-Allow-Methods': wanted, 'Access-Control-Allow-Headers': names }
  return { ...CROSS_ORIGIN, ...allowed, 'Access-Control-Max-Age': '600' }
}

const METHOD = 'access-control-request-method'
const HEADERS = 'access-control-request-headers'
