import type { RequestKind } from './fault-queue.ts'

/** The paths that speak OAuth 2.0. */
export const OAUTH_PATHS = {
  tokenEndpoint: '/oauth/token',
  revocationEndpoint: '/oauth/revoke',
  loginEndpoint: '/oauth/login',
} as const

export interface Route {
  readonly kind: RequestKind
  readonly isOAuth: boolean
}

/** The target of a request. @param path With the query. @param body The body of a token request, to see whether it presents a refresh token. */
export function routeOf(path: string, body: string): Route {
  const [pathname = ''] = path.split('?')
  if (pathname === OAUTH_PATHS.tokenEndpoint) return { kind: isRefresh(body) ? 'refresh' : 'obtain', isOAuth: true }
  if (pathname === OAUTH_PATHS.revocationEndpoint) return { kind: 'revoke', isOAuth: true }
  if (pathname === OAUTH_PATHS.loginEndpoint) return { kind: 'login', isOAuth: true }
  if (/^\/token\/?$/.test(pathname)) return { kind: 'obtain', isOAuth: false }
  return { kind: /^\/token\/refresh\/?$/.test(pathname) ? 'refresh' : 'resource', isOAuth: false }
}

function isRefresh(body: string): boolean {
  return new URLSearchParams(body).get('grant_type') === 'refresh_token'
}
