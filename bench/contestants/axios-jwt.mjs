// As in its README, with a storage in memory. It reads the expiry from the token, so the opaque token of the service is put into a
// JWT, as its third part. The state is in the module: one account in a process.
import { applyAuthTokenInterceptor, setAuthTokens } from 'axios-jwt'
import { marginMs } from '../lib/token-call.mjs'

export const name = 'axios-jwt'

export async function create({ instance, obtain, lifetimeMs }) {
  // This interceptor runs after the one of axios-jwt: axios calls request interceptors last to first.
  const unwrap = (config) => {
    config.headers.Authorization = String(config.headers.Authorization).replace(/^Bearer [^.]*\.[^.]*\./, 'Bearer ')
    return config
  }
  instance.interceptors.request.use(unwrap, undefined, { synchronous: true })
  applyAuthTokenInterceptor(instance, {
    requestRefresh: async () => jwt(await obtain()),
    tokenExpireFudge: marginMs(lifetimeMs) / 1_000,
    getStorage: memory,
  })
  // The login: without a refresh token, axios-jwt would send requests without a token.
  await setAuthTokens({ accessToken: '', refreshToken: 'the credentials' })
  return { get: (url, config) => instance.get(url, config) }
}

function jwt({ accessToken, lifetimeMs }) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ exp: (Date.now() + lifetimeMs) / 1_000 })}.${accessToken}`
}

function memory() {
  const values = new Map()
  return {
    get: async (key) => values.get(key) ?? null,
    set: async (key, value) => void values.set(key, value),
    remove: async (key) => void values.delete(key),
  }
}
