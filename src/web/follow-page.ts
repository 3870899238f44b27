import { internalsOf } from '../core/manager-internals.ts'
import { checkFunction, checkObject } from '../core/option-checks.ts'
import type { ResourceTokens } from '../core/token-manager.ts'

interface Target {
  addEventListener?(type: string, listener: (event: { readonly persisted?: boolean }) => void): void
  removeEventListener?(type: string, listener: (event: { readonly persisted?: boolean }) => void): void
}
interface Page extends Target {
  readonly document?: Target & { readonly visibilityState?: string }
}

/**
 * Renews when the page becomes active again: when the browser is back online, when the page becomes visible, or when the browser restores it from the
 * back/forward cache. Makes no token request while the token is fresh, after a stop, or before a `Retry-After` has passed. If a login is required, it checks
 * whether another tab has tokens. A hidden page waits until it is visible. With a source that has a `login`, the manager immediately notices a login or logout
 * in another tab (`loginChanged`). Does nothing outside browsers.
 *
 * @example
 * ```ts
 * import { followPage } from 'axios-evergreen/web'
 *
 * const stop = followPage(tokens)
 * ```
 * @returns A function that stops this.
 * @throws {TypeError} naming the argument.
 */
export function followPage(tokens: ResourceTokens): () => void {
  checkObject('tokens', tokens)
  for (const method of ['status', 'renew', 'getAccessToken'])
    checkFunction(`tokens.${method}`, Reflect.get(tokens, method))
  const page = globalThis as Page
  const { document } = page
  // A page with an open channel may be denied the back/forward cache, so the manager listens only while the page is shown.
  let stopFollowing: (() => void) | undefined
  const listen = () => {
    stopFollowing?.()
    stopFollowing = internalsOf(tokens)?.followLogin?.()
  }
  const leave = () => {
    stopFollowing?.()
    stopFollowing = undefined
  }
  const check = () => {
    // All tabs are notified simultaneously that the browser is online. Only visible ones act.
    if (document?.visibilityState !== 'hidden') comeBack(tokens)
  }
  const restored = () => {
    listen()
    check()
  }
  const listeners: [Target | undefined, string, (event: { readonly persisted?: boolean }) => void][] = [
    [page, 'online', check],
    [document, 'visibilitychange', check],
    [page, 'pageshow', ({ persisted }) => persisted && restored()],
    [page, 'pagehide', leave],
  ]
  if (page.addEventListener) listen()
  for (const [target, type, listener] of listeners) target?.addEventListener?.(type, listener)
  return () => {
    leave()
    for (const [target, type, listener] of listeners) target?.removeEventListener?.(type, listener)
  }
}

function comeBack(tokens: ResourceTokens): void {
  const { phase, renewing, nextAttemptAt, lastError } = tokens.status()
  if (renewing) return
  const needsToken = phase === 'due' || phase === 'expired'
  const mustLogIn = phase === 'stopped' && lastError === 'ERR_LOGIN_REQUIRED'
  // In a cool-down, `getAccessToken` rejects, or returns the old token. Otherwise it may find a newer token of another tab.
  if (phase === 'cooling-down' || (needsToken && nextAttemptAt !== undefined)) tokens.renew().catch(() => undefined)
  else if (needsToken || mustLogIn) tokens.getAccessToken().catch(() => undefined)
}
