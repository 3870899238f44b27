// The server behind the page: a login, an OAuth 2.0 token endpoint whose refresh tokens rotate, their revocation, and an API.
import { randomBytes } from 'node:crypto'

/** @returns A function that responds to a request, or returns false. */
export function answering({ lifetimeSeconds }) {
  /** By access token: its user, and its expiry. */
  const sessions = new Map()
  /** By refresh token: the family that it belongs to. A family ends with a logout, or when one of its tokens is presented again. */
  const families = new Map()

  /** The token service's response until that time. */
  let trouble = { until: 0 }
  const inTrouble = (status, headers) => {
    trouble = { until: Date.now() + 10_000, answer: [status, { error: 'temporarily_unavailable' }, headers] }
    return [204]
  }

  function issue(family) {
    const [access_token, refresh_token] = [0, 1].map(() => randomBytes(24).toString('base64url'))
    sessions.set(access_token, { family, until: Date.now() + lifetimeSeconds * 1_000 })
    families.set(refresh_token, family)
    family.current = refresh_token
    return { access_token, refresh_token, expires_in: lifetimeSeconds, refresh_expires_in: 3_600, token_type: 'Bearer' }
  }

  const routes = {
    'POST /login': (form) => {
      if (form.get('user') !== 'ada' || form.get('password') !== 'lovelace') return [401, { error: 'wrong password' }]
      return [200, issue({ user: 'ada', isOver: false })]
    },
    'POST /token': (form) => {
      if (trouble.until > Date.now()) return trouble.answer
      const presented = form.get('refresh_token')
      const family = families.get(presented)
      // A refresh token was presented twice, so there are two copies: both holders are logged out.
      if (family && family.current !== presented) family.isOver = true
      if (!family || family.isOver) return [400, { error: 'invalid_grant' }]
      return [200, issue(family)]
    },
    // RFC 7009: an unknown token gets a 200, too.
    'POST /revoke': (form) => {
      const family = families.get(form.get('token'))
      if (family) family.isOver = true
      return [200, {}]
    },
    'GET /api/me': (_, bearer) => {
      const { family, until = 0 } = sessions.get(bearer) ?? {}
      return family && !family.isOver && until > Date.now()
        ? [200, { user: family.user }]
        : [401, { error: 'no token' }]
    },
    'POST /trouble/throttle': () => inTrouble(429, { 'Retry-After': 10 }),
    'POST /trouble/fail': () => inTrouble(503),
    'POST /trouble/revoke': (_, bearer) => {
      sessions.delete(bearer)
      return [204]
    },
    // Another client presents the refresh token of the page, and has the new one.
    'POST /trouble/steal': (_, bearer) => {
      const { family } = sessions.get(bearer) ?? {}
      if (family) issue(family)
      return [204]
    },
  }

  return (request, response) => {
    const route = routes[`${request.method} ${request.url}`]
    if (!route) return false
    void (async () => {
      let body = ''
      for await (const chunk of request) body += chunk
      const bearer = request.headers.authorization?.slice('Bearer '.length)
      const [status, answer, headers] = route(new URLSearchParams(body), bearer)
      response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers })
      response.end(answer && JSON.stringify(answer))
    })()
    return true
  }
}
