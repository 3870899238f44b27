// Its bearer policy in the pipeline of its options, retries included. The token cycler behind the policy is not exported, and has a fixed
// window of two minutes: with a shorter token, and while there are requests, it begins a renewal as soon as the last one has ended.
import {
  bearerTokenAuthenticationPolicy,
  createDefaultHttpClient,
  createPipelineFromOptions,
  createPipelineRequest,
} from '@azure/core-rest-pipeline'

export const name = '@azure/core-rest-pipeline'
export const transport = 'its own'

export async function create({ baseUrl, obtain }) {
  const pipeline = createPipelineFromOptions({})
  const { policy, close } = closablePolicy(obtain)
  pipeline.addPolicy(policy)
  const client = createDefaultHttpClient()
  // The policy takes https only; here the last step sends over http.
  const httpClient = {
    sendRequest: (request) => {
      const url = request.url.replace('https:', 'http:')
      return client.sendRequest(createPipelineRequest({ ...request, url, allowInsecureConnection: true }))
    },
  }
  return {
    async get(path, { signal } = {}) {
      const url = new URL(path, baseUrl).href.replace('http:', 'https:')
      const request = createPipelineRequest({ url, abortSignal: signal })
      const { status, bodyAsText } = await pipeline.sendRequest(httpClient, request)
      if (status >= 400) throw new Error(`The API responded with ${status}`)
      return { status, data: bodyAsText }
    },
    close,
  }
}

/** Runs only the policy, in front of the adapter of an axios instance. */
export async function onAxios({ instance, obtain }) {
  const { policy, close } = closablePolicy(obtain)
  instance.interceptors.request.use(async (config) => {
    const request = createPipelineRequest({ url: 'https://api.example.com' })
    await policy.sendRequest(request, async () => ({ request, status: 200, headers: NO_CHALLENGE }))
    config.headers.Authorization = request.headers.get('Authorization')
    return config
  })
  return { get: (url, config) => instance.get(url, config), close }
}

/** The policy goes on with a renewal after its last request has ended. An error of that renewal would end the process. */
function closablePolicy(obtain) {
  let isClosed = false
  const close = () => {
    isClosed = true
  }
  return { policy: bearerPolicy(() => (isClosed ? new Promise(() => undefined) : obtain())), close }
}

const NO_CHALLENGE = { has: () => false }

function bearerPolicy(obtain) {
  return bearerTokenAuthenticationPolicy({
    scopes: [],
    credential: {
      async getToken() {
        const { accessToken, lifetimeMs } = await obtain()
        return { token: accessToken, expiresOnTimestamp: Date.now() + lifetimeMs }
      },
    },
    challengeCallbacks: {
      // `claims` tell the policy that the current token is not sufficient.
      async authorizeRequestOnChallenge({ scopes, request, getAccessToken }) {
        const token = await getAccessToken(scopes, { claims: 'refused' })
        request.headers.set('Authorization', `Bearer ${token.token}`)
        return true
      },
    },
  })
}
