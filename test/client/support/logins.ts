import { TokenError } from '../../../src/index.ts'
import { systemClock } from '../../../src/core/clock.ts'
import type { AnomalyKind } from '../../../src/core/events.ts'
import { INTERNALS, type ManagerInternals } from '../../../src/core/manager-internals.ts'
import type { TokenManager } from '../../../src/core/token-manager.ts'

/** A manager that knows the current login, and notifies an attachment like ours. The test controls it by hand. */
export interface Logins {
  readonly tokens: TokenManager
  readonly replaced: readonly string[]
  readonly anomalies: readonly AnomalyKind[]
  /** A user logs in, and has this token; without one, callers wait for `issue`. */
  logIn(token?: string): void
  logOut(): void
  /** A new token of the current login. */
  issue(token: string): void
}

export function startLogins({ needsLogin = true } = {}): Logins {
  const replaced: string[] = []
  const anomalies: AnomalyKind[] = []
  let login = 0
  let current: string | undefined
  let waiters: { resolve: (token: string) => void; reject: (error: Error) => void }[] = []
  const next = () => new Promise<string>((resolve, reject) => waiters.push({ resolve, reject }))
  const issue = (token: string) => {
    current = token
    for (const { resolve } of waiters.splice(0)) resolve(token)
  }
  const replace = (refused: string) => {
    if (current !== undefined && current !== refused) return Promise.resolve(current)
    replaced.push(refused)
    current = undefined
    return next()
  }
  const internals: ManagerInternals = {
    clock: systemClock,
    maxWaitMs: 30_000,
    anomaly: (kind) => anomalies.push(kind) > 0,
    hasEnded: () => false,
    renewInBackground: (refused) => void replace(refused).catch(() => undefined),
    hasLogins: needsLogin,
    currentGeneration: () => login,
    firstGeneration: () => login,
  }
  const tokens = {
    peekAccessToken: () => current,
    getAccessToken: () => (current === undefined ? next() : Promise.resolve(current)),
    replaceAccessToken: replace,
    [INTERNALS]: internals,
  }
  return {
    tokens: tokens as unknown as TokenManager,
    replaced,
    anomalies,
    issue,
    logIn(token) {
      login += 1
      if (token === undefined) current = undefined
      else issue(token)
    },
    logOut() {
      login += 1
      current = undefined
      if (!needsLogin) return
      const gone = waiters
      waiters = []
      for (const { reject } of gone) reject(new TokenError('ERR_LOGIN_REQUIRED', 'logged out'))
    },
  }
}
