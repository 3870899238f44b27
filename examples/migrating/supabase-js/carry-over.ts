import type { LoginManager } from 'axios-evergreen/login'

/** Call it at each start, before the first request. If your client has a `storageKey`, use it as `name`. */
export async function carryOver(tokens: LoginManager, url: string): Promise<void> {
  const name = `sb-${new URL(url).hostname.split('.')[0]}-auth-token`
  const session = JSON.parse(localStorage.getItem(name) ?? '{}') as { readonly refresh_token?: string }
  if (session.refresh_token) await tokens.adopt({ refreshToken: session.refresh_token })
  localStorage.removeItem(name)
}
