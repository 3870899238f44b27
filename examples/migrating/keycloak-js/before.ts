import axios from 'axios'
import Keycloak, { type KeycloakInitOptions } from 'keycloak-js'

// For Keycloak, pass url, realm and clientId.
const keycloak = new Keycloak({ oidcProvider: 'https://id.example.com', clientId: 'my-page' })
// keycloak-js stores no tokens: applications do, as this one does.
const save = () => {
  const { token, refreshToken, idToken } = keycloak
  localStorage.setItem('keycloak', JSON.stringify({ token, refreshToken, idToken }))
}
keycloak.onAuthSuccess = save
keycloak.onAuthRefreshSuccess = save
const saved = JSON.parse(localStorage.getItem('keycloak') ?? '{}') as KeycloakInitOptions
await keycloak.init({ ...saved, pkceMethod: 'S256', checkLoginIframe: false })

export const api = axios.create({ baseURL: '/api' })
api.interceptors.request.use(async (config) => {
  await keycloak.updateToken(5)
  config.headers.setAuthorization(`Bearer ${keycloak.token}`)
  return config
})
export const logIn = () =>
  keycloak.login({ redirectUri: `${location.origin}/callback`, scope: 'openid offline_access' })
export const renew = () => keycloak.updateToken(-1)
