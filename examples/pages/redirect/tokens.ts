// Login by redirect: authorization code with PKCE. The provider sends the user back to /callback, which serves the same page.
import axios from 'axios'
import { type AdoptedGrant, attachBearer, createTokenManager } from 'axios-evergreen'
import { fromTokenResponse, oauth2 } from 'axios-evergreen/oauth2'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'
import * as oauth from 'oauth4webapi'

const issuer = new URL('https://login.example.com')
const client = { client_id: 'my-page' }
const redirect_uri = `${location.origin}/callback`
/** During development, a provider on this machine may use plain http. */
const http = { [oauth.allowInsecureRequests]: issuer.protocol === 'http:' }
const server = async () => oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, http))

export const tokens = createTokenManager({
  source: oauth2({ issuer, clientId: client.client_id, grant: 'login' }), // the metadata contains the revocation endpoint
  store: webStore({ encryptionKeys: [browserKey()] }),
})
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)

/** What the page needs when the user comes back. */
type Begun = Record<'nonce' | 'verifier' | 'address', string>

/** @param more `{ prompt: 'login' }` or `{ prompt: 'select_account' }`: for another account. */
export async function logIn(more: Record<string, string> = {}): Promise<void> {
  const { authorization_endpoint } = await server()
  const [state, nonce, verifier] = [1, 2, 3].map(oauth.generateRandomCodeVerifier) as [string, string, string]
  // Stored for this tab only, under the state of this login, because several tabs may log in at once.
  const begun: Begun = { nonce, verifier, address: location.href }
  sessionStorage.setItem(`login ${state}`, JSON.stringify(begun))
  const challenge = { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' }
  const asked = { response_type: 'code', scope: 'openid offline_access', redirect_uri, state, nonce, ...challenge }
  location.assign(`${authorization_endpoint}?${new URLSearchParams({ ...client, ...asked, ...more })}`)
}

/** @returns Undefined, except on the page to which the provider redirects. */
async function comeBack(): Promise<AdoptedGrant | undefined> {
  if (location.pathname !== '/callback') return undefined
  const callback = new URL(location.href)
  const state = callback.searchParams.get('state') ?? ''
  const begun = sessionStorage.getItem(`login ${state}`)
  const { nonce, verifier, address } = JSON.parse(begun ?? '{"address":"/"}') as Begun
  // A code works once, so neither a reload nor the back button may send it again.
  sessionStorage.removeItem(`login ${state}`)
  history.replaceState(null, '', address)
  if (begun === null) throw new Error('This login did not begin in this tab. Log in again.')
  const as = await server()
  const code = oauth.validateAuthResponse(as, client, callback, state)
  const redeem = oauth.authorizationCodeGrantRequest
  const response = await redeem(as, client, oauth.None(), code, redirect_uri, verifier, http)
  const checks = { expectedNonce: nonce, requireIdToken: true }
  const tokenSet = await oauth.processAuthorizationCodeResponse(as, client, response, checks)
  localStorage.setItem('idToken', tokenSet.id_token!) // for all tabs; not a credential, but it identifies the user
  return fromTokenResponse(tokenSet)
}

/** Resolves with the error of the login, such as `access_denied`, or with an empty string. */
export const wrong = tokens.adopt(comeBack()).then(
  () => '',
  (thrown: Error & { error?: string }) => thrown.error ?? thrown.message,
)
// Called after adopt(): while that login is pending, no event reports that a login is required.
followPage(tokens)

/** Revokes the refresh token, then ends the session at the provider, which sends the user back. */
export async function logOut(): Promise<void> {
  await tokens.logout()
  const idToken = localStorage.getItem('idToken') ?? ''
  localStorage.removeItem('idToken')
  const asked = { id_token_hint: idToken, post_logout_redirect_uri: `${location.origin}/` }
  location.assign(`${(await server()).end_session_endpoint}?${new URLSearchParams({ ...client, ...asked })}`)
}
