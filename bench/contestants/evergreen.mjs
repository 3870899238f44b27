import { attachBearer, clientCredentials, createTokenManager } from '../evergreen.mjs'

export const name = 'axios-evergreen'

/** @param context With `service`, the token call is part of what is measured; without it, tokens come from `obtain`. */
export async function create({ instance, baseUrl, obtain, service }) {
  const source = service
    ? clientCredentials({ baseUrl: service.baseUrl, ...service.client, transport: { proxy: false } })
    : ownSource(new URL(baseUrl).origin, obtain)
  const tokens = createTokenManager({ source })
  attachBearer(instance, tokens)
  return { get: (url, config) => instance.get(url, config), close: () => tokens.close() }
}

function ownSource(origin, obtain) {
  return {
    id: 'benchmark',
    origin,
    async obtain() {
      const { accessToken, lifetimeMs } = await obtain()
      return { accessToken, accessLifetimeMs: lifetimeMs }
    },
  }
}
