import { readFile, writeFile } from 'node:fs/promises'
import { type AuthorizationCodeRequest, type ICachePlugin, PublicClientApplication } from '@azure/msal-node'
import axios from 'axios'
import { API, CACHE, settings } from './settings.ts'

const cachePlugin: ICachePlugin = {
  beforeCacheAccess: async ({ tokenCache }) => tokenCache.deserialize(await readFile(CACHE, 'utf8').catch(() => '')),
  async afterCacheAccess({ cacheHasChanged, tokenCache }) {
    if (cacheHasChanged) await writeFile(CACHE, tokenCache.serialize(), { mode: 0o600 })
  },
}
const msal = new PublicClientApplication({ ...settings, cache: { cachePlugin } })
const request = async () => ({ scopes: ['orders'], account: (await msal.getTokenCache().getAllAccounts())[0]! })

export const api = axios.create({ baseURL: API })
api.interceptors.request.use(async (config) => {
  const { accessToken } = await msal.acquireTokenSilent(await request())
  config.headers.setAuthorization(`Bearer ${accessToken}`)
  return config
})
export const logIn = (code: AuthorizationCodeRequest) => msal.acquireTokenByCode(code)
export const renew = async () => msal.acquireTokenSilent({ ...(await request()), forceRefresh: true })
