import { createTokenManager, type Clock, type TokenManagerOptions, type TokenStore } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import type { Traffic } from '../support/traffic.ts'

interface Where {
  /** Of the token service. */
  readonly origin: string
  readonly store: TokenStore | undefined
  readonly clock: Clock
  /** Counts token requests. */
  readonly traffic?: Traffic
}

/** Opens a manager of the login of these tests. */
export function openLogin(
  { origin, store, clock, traffic }: Where,
  options?: Partial<OAuth2Options>,
  more?: Partial<TokenManagerOptions>,
): LoginManager {
  const endpoints = { tokenEndpoint: `${origin}/token`, revocationEndpoint: `${origin}/revoke` }
  const source = oauth2({ ...endpoints, clientId: 'app', account: 'one', ...options, grant: 'login' })
  if (traffic) Object.defineProperty(source, 'refresh', { value: traffic.counted(source.refresh!.bind(source)) })
  const tokens = createTokenManager({ source, ...(store && { store }), clock, random: () => 0, ...more })
  tokens.onAny(() => undefined)
  return tokens as LoginManager
}
