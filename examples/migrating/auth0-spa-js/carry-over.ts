import type { LoginManager } from 'axios-evergreen/login'

/** auth0-spa-js has an entry for each audience and scope: `@@auth0spajs@@::CLIENT::AUDIENCE::SCOPE`. */
interface Entry {
  readonly body?: { readonly refresh_token?: string }
  readonly expiresAt?: number
}

/** Call it at each start, before the first request. */
export async function carryOver(tokens: LoginManager, clientId: string): Promise<void> {
  const names = Object.keys(localStorage).filter((name) => name.startsWith(`@@auth0spajs@@::${clientId}::`))
  const entries = names.map((name) => JSON.parse(localStorage.getItem(name) ?? '{}') as Entry)
  // If there are several refresh tokens, the newest one has replaced the others by rotation.
  const [newest] = entries.filter(({ body }) => body?.refresh_token).sort((a, b) => b.expiresAt! - a.expiresAt!)
  if (newest) await tokens.adopt({ refreshToken: newest.body!.refresh_token! })
  for (const name of names) localStorage.removeItem(name)
}
