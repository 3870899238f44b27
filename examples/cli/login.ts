import { createTokenManager } from 'axios-evergreen'
import type { LoginManager } from 'axios-evergreen/login'
import { oauth2 } from 'axios-evergreen/oauth2'
import { sqliteStore } from 'axios-evergreen/sqlite'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { configFolder } from './config-folder.ts'
import { settings } from './settings.ts'

/** The one login of this user on this machine. All processes of the tool share it. */
export function openLogin(): LoginManager {
  const { issuer, clientId, name } = settings
  const login = createTokenManager({
    source: oauth2({ issuer, clientId, grant: 'login', account: 'default' }),
    // A login cannot be obtained a second time, so no process goes on without the file.
    store: sqliteStore({
      file: join(configFolder(name), 'login.db'),
      onUnavailable: 'fail',
      commandTimeoutMs: 2_000,
    }),
  })
  login.on('anomaly', ({ kind, message }) => {
    // Not reported, because only its owner can read the file.
    if (kind !== 'tokens-unencrypted') console.error(message)
  })
  leaveWell(login)
  return login
}

/**
 * The response to a refresh contains the only valid refresh token. If the process is killed or stopped before it has stored that response, the login is
 * lost. So Ctrl-C and Ctrl-Z wait until the token request has completed.
 */
function leaveWell(login: LoginManager): void {
  const ends = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
  for (const [signal, code] of Object.entries(ends))
    process.once(signal, () => void login.close().then(() => process.exit(code)))
  if (process.platform === 'win32') return
  process.on('SIGTSTP', async () => {
    while (login.status().renewing) await pause(20)
    process.kill(process.pid, 'SIGSTOP')
  })
}
