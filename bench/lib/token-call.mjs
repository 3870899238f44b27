import axios from 'axios'
import { Agent } from 'node:http'

const MEDIA_TYPE = 'application/vnd.api+json'

/**
 * The token call that all contestants use: plain axios, as a user would write it.
 *
 * @param service `{ baseUrl, client }` of a simulated service.
 * @returns A function that resolves with `{ accessToken, lifetimeMs }`; rejects with what axios rejects with.
 */
export function tokenCall({ baseUrl, client }) {
  const httpAgent = new Agent({ keepAlive: true, maxSockets: 100 })
  const attributes = { client_id: client.clientId, client_secret: client.clientSecret }
  return async () => {
    const body = { data: { type: 'auth-token', attributes } }
    const headers = { 'Content-Type': MEDIA_TYPE, Accept: MEDIA_TYPE }
    const answer = await axios.post(`${baseUrl}/token/`, body, { headers, httpAgent, timeout: 10_000 })
    const { access, expires_in } = JSON.parse(
      typeof answer.data === 'string' ? answer.data : JSON.stringify(answer.data),
    ).data.attributes
    return { accessToken: access, lifetimeMs: expires_in * 1_000 }
  }
}

/** How long before its expiry a token is replaced, ms, for contestants that have an option for it. */
export function marginMs(lifetimeMs) {
  return Math.min(lifetimeMs / 4, 10_000)
}
