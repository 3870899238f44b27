import type { LoginManager } from 'axios-evergreen/login'

/** Call it at each start, before the first request. If your `UserManager` had no option `userStore`, pass `sessionStorage`, the default of oidc-client-ts. */
export async function carryOver(
  tokens: LoginManager,
  authority: string,
  clientId: string,
  userStore = localStorage,
): Promise<void> {
  const name = `oidc.user:${authority}:${clientId}`
  const user = JSON.parse(userStore.getItem(name) ?? '{}') as { readonly refresh_token?: string }
  if (user.refresh_token) await tokens.adopt({ refreshToken: user.refresh_token })
  userStore.removeItem(name)
}
