import type { LoginManager } from 'axios-evergreen/login'

/** Call it at each start, before the first request. `keycloak` is the name under which your application stored the tokens. */
export async function carryOver(tokens: LoginManager): Promise<void> {
  const saved = JSON.parse(localStorage.getItem('keycloak') ?? '{}') as { readonly refreshToken?: string }
  if (saved.refreshToken) await tokens.adopt({ refreshToken: saved.refreshToken })
  localStorage.removeItem('keycloak')
}
