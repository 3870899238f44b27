import { createAuth0Client } from '@auth0/auth0-spa-js'
import axios from 'axios'

const auth0 = await createAuth0Client({
  domain: 'https://id.example.com',
  clientId: 'my-page',
  cacheLocation: 'localstorage',
  useRefreshTokens: true,
  authorizationParams: { redirect_uri: `${location.origin}/callback` },
})
if (location.pathname === '/callback') {
  await auth0.handleRedirectCallback()
  history.replaceState(null, '', '/')
}
export const api = axios.create({ baseURL: '/api' })
api.interceptors.request.use(async (config) => {
  config.headers.setAuthorization(`Bearer ${await auth0.getTokenSilently()}`)
  return config
})
export const logIn = () => auth0.loginWithRedirect()
export const renew = () => auth0.getTokenSilently({ cacheMode: 'off' })
