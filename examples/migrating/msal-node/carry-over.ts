import { readFile, rm } from 'node:fs/promises'
import type { LoginManager } from 'axios-evergreen/login'

interface Cache {
  readonly RefreshToken?: Record<string, { readonly client_id: string; readonly secret: string }>
}

/** Call it at each start, before the first request. @param file The file that your `cachePlugin` writes: the cache of one user, from `serialize()`. */
export async function carryOver(tokens: LoginManager, clientId: string, file: string): Promise<void> {
  const cache = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Cache
  const found = Object.values(cache.RefreshToken ?? {}).find((entry) => entry.client_id === clientId)
  if (found) await tokens.adopt({ refreshToken: found.secret })
  await rm(file, { force: true })
}
