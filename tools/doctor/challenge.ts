/** Error codes of RFC 6750, section 3.1, RFC 9449 and RFC 9470. Other text may contain the token. */
const ERRORS =
  /\berror="?(invalid_request|invalid_token|insufficient_scope|use_dpop_nonce|invalid_dpop_proof|insufficient_user_authentication)\b/i

/** @returns The known parts of `WWW-Authenticate`. @param token Must not be shown. */
export function challengeIn(header: unknown, token: string): string | undefined {
  if (typeof header !== 'string') return undefined
  const schemes = header.match(/\b(?:Bearer|DPoP|Basic|Digest|Negotiate)\b/gi) ?? []
  const error = ERRORS.exec(header)?.[1]
  const [, scope = ''] = /\bscope="([\w.:/ -]{1,200})"/i.exec(header) ?? []
  const parts = [
    schemes.length > 0 && `it asks for ${[...new Set(schemes)].join(' or ')}`,
    error !== undefined && `error ${error}`,
    scope !== '' && !scope.includes(token) && `scope ${scope}`,
  ].filter((part) => part !== false)
  return parts.length > 0 ? parts.join(', ') : undefined
}
