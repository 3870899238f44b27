import axios from 'axios'
import { UserManager, WebStorageStateStore } from 'oidc-client-ts'

const users = new UserManager({
  authority: 'https://id.example.com',
  client_id: 'my-page',
  redirect_uri: `${location.origin}/callback`,
  scope: 'openid offline_access',
  userStore: new WebStorageStateStore({ store: localStorage }),
})
if (location.pathname === '/callback') {
  await users.signinRedirectCallback()
  history.replaceState(null, '', '/')
}
export const api = axios.create({ baseURL: '/api' })
api.interceptors.request.use(async (config) => {
  config.headers.setAuthorization(`Bearer ${(await users.getUser())?.access_token}`)
  return config
})
export const logIn = () => users.signinRedirect()
export const renew = () => users.signinSilent()
