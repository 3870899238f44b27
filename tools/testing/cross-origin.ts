import type { IncomingHttpHeaders } from 'node:http'

/** Lets pages of any origin read the responses (Fetch Standard, CORS protocol). No cookies are involved, so `*` suffices. */
export const CROSS_ORIGIN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, Date, WWW-Authenticate, DPoP-Nonce',
}

/** @returns The headers for a preflight request; undefined for any other request. */
export function preflightAnswer(
  method: string,
  { [METHOD]: wanted, [HEADERS]: names = '' }: IncomingHttpHeaders,
): Record<string, string> | undefined {
  if (method !== 'OPTIONS' || wanted === undefined) return undefined
  // `*` instead of the names would not cover `Authorization`.
  const allowed = { 'Access-Control-Allow-Methods': wanted, 'Access-Control-Allow-Headers': names }
  return { ...CROSS_ORIGIN, ...allowed, 'Access-Control-Max-Age': '600' }
}

const METHOD = 'access-control-request-method'
const HEADERS = 'access-control-request-headers'
