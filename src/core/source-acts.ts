import { defined } from './defined.ts'
import type { Settings } from './account.ts'
import { detailsOf, outcomeOf, type TokenError } from './errors.ts'
import { withinExchange } from './exchange.ts'
import type { LoginHost, LogoutResult } from './login-port.ts'
import { type ExchangeContext, offers, type TokenSource } from './token-source.ts'
import type { NewTokens } from './stored-tokens.ts'
import { bare } from './whole.ts'

/** Resets the source. Waiting callers get a renewal even if `source.reset` throws. That renewal waits until the record is cleared (`Acts.after`). */
export async function resetSource(
  { settings: { source } }: { readonly settings: { readonly source: TokenSource } },
  host: Pick<LoginHost, 'renewIfAwaited'>,
  cleared: Promise<unknown>,
): Promise<void> {
  host.renewIfAwaited()
  try {
    if (offers(source, 'reset')) source.reset()
  } finally {
    await cleared
  }
}

/** Why tokens were not revoked. Without an error, the source has no `revoke`. */
export interface NotRevoked {
  readonly reason: Exclude<Extract<LogoutResult, { revoked: false }>['reason'], 'nothing'>
  readonly error?: TokenError
}

/**
 * Has the source revoke these tokens (RFC 7009). Never rejects.
 *
 * @param within Makes the call, and may repeat it.
 * @returns Undefined if the service confirmed the revocation.
 */
export async function revokeAtSource(
  settings: Settings,
  { accessToken, refreshToken, context }: NewTokens,
  within = (call: () => Promise<void>) => call(),
): Promise<NotRevoked | undefined> {
  const { source } = settings
  if (!offers(source, 'revoke')) return { reason: 'no-endpoint' }
  const set = bare(defined({ accessToken: accessToken || undefined, refreshToken, context }))
  const call = (known: ExchangeContext) => within(async () => source.revoke(set, known))
  try {
    await withinExchange(settings, true, call, { context, exchange: undefined, hasCredentials: undefined })
    return undefined
  } catch (thrown) {
    const error = settings.readThrown(thrown, 'obtain')
    return { reason: reasonIn(error), error }
  }
}

/** Why the service did not revoke. */
export function reasonIn(error: TokenError): NotRevoked['reason'] {
  if (detailsOf(error).revocation === 'no-endpoint') return 'no-endpoint'
  return outcomeOf(error) === 'rejected' ? 'refused' : 'unavailable'
}
