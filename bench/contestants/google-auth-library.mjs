// With a refresh token, because only then callers share a renewal (each caller calls a `refreshHandler`). The response of the token service is
// converted to the form that the library expects.
import { OAuth2Client } from 'google-auth-library'
import { marginMs } from '../lib/token-call.mjs'

export const name = 'google-auth-library'
export const transport = 'its own'

const TOKEN_URL = 'http://token.invalid/'

export async function create({ baseUrl, ...context }) {
  const client = oauth2Client(context)
  return {
    async get(path, { signal } = {}) {
      const { status, data } = await client.request({ url: new URL(path, baseUrl).href, signal })
      return { status, data }
    },
  }
}

/** An interceptor asks the client for the headers. */
export async function onAxios({ instance, ...context }) {
  const client = oauth2Client(context)
  instance.interceptors.request.use(async (config) => {
    config.headers.Authorization = (await client.getRequestHeaders()).get('authorization')
    return config
  })
  return { get: (url, config) => instance.get(url, config) }
}

function oauth2Client({ obtain, lifetimeMs }) {
  const client = new OAuth2Client({
    credentials: { refresh_token: 'the credentials' },
    eagerRefreshThresholdMillis: marginMs(lifetimeMs),
    forceRefreshOnFailure: true,
    endpoints: { oauth2TokenUrl: TOKEN_URL },
    transporterOptions: {
      adapter: (options, send) => (String(options.url) === TOKEN_URL ? tokenAnswer(options, obtain) : send(options)),
    },
  })
  return client
}

async function tokenAnswer(config, obtain) {
  const answer = (status, data) => Object.assign(new Response(null, { status }), { config, data })
  try {
    const { accessToken, lifetimeMs } = await obtain()
    return answer(200, { access_token: accessToken, expires_in: lifetimeMs / 1_000, token_type: 'Bearer' })
  } catch (error) {
    if (!error.response) throw error
    return answer(error.response.status, error.response.data)
  }
}
