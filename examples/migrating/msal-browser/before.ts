import { PublicClientApplication } from '@azure/msal-browser'
import axios from 'axios'
import { settings } from './settings.ts'

const msal = new PublicClientApplication({ ...settings, cache: { cacheLocation: 'localStorage' } })
await msal.initialize()
await msal.handleRedirectPromise()
const request = () => ({ scopes: ['orders'], account: msal.getAllAccounts()[0]! })

export const api = axios.create({ baseURL: '/api' })
api.interceptors.request.use(async (config) => {
  const { accessToken } = await msal.acquireTokenSilent(request())
  config.headers.setAuthorization(`Bearer ${accessToken}`)
  return config
})
export const logIn = () => msal.loginRedirect({ scopes: ['orders'] })
export const renew = () => msal.acquireTokenSilent({ ...request(), forceRefresh: true })
