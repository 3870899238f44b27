import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  randomPKCECodeVerifier,
  randomState,
  type TokenEndpointResponse,
} from 'openid-client'
import { settings } from './settings.ts'

/** The authorization code flow with PKCE. The server sends the browser back to a port of this machine (RFC 8252, section 7.3). */
export async function logInByBrowser(server: Configuration): Promise<TokenEndpointResponse> {
  const [verifier, state] = [randomPKCECodeVerifier(), randomState()]
  const listener = await listenFor(state)
  try {
    const url = buildAuthorizationUrl(server, {
      redirect_uri: listener.address,
      scope: settings.scope,
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      prompt: 'consent', // many servers give a refresh token only then
    })
    console.log(`Your browser opens this page. If it does not, open the page yourself:\n${url.href}`)
    openBrowser(url)
    return await authorizationCodeGrant(server, await listener.visited, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    })
  } finally {
    listener.close()
  }
}

/** @returns A listener on this machine. `visited` resolves with the address that the browser was sent back to. */
async function listenFor(state: string) {
  const listener = createServer()
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`
  const visited = new Promise<URL>((resolve) => {
    listener.on('request', (request, response) => {
      const url = new URL(request.url ?? '', address)
      // Any program of this machine may call. Only the server knows the state.
      const isOurs = url.pathname === '/callback' && url.searchParams.get('state') === state
      response.writeHead(isOurs ? 200 : 404, { 'Content-Type': 'text/plain', Connection: 'close' })
      response.end(isOurs ? 'You may close this page. Continue in your terminal.' : undefined)
      if (isOurs) resolve(url)
    })
  })
  return { address, visited, close: () => listener.close() }
}

function openBrowser({ href }: URL): void {
  const [command, ...args] =
    { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] }[process.platform as string] ?? []
  spawn(command ?? 'xdg-open', [...args, href], { stdio: 'ignore', detached: true })
    .on('error', () => undefined) // the address is printed, too
    .unref()
}
