import { once } from 'node:events'
import WebSocket from 'ws'

/**
 * Opens a WebSocket of the package `ws`, which can send headers. If the server rejects the token, connects once more with another token. Call this again
 * whenever the socket has closed.
 */
export async function openSocket(url, tokens) {
  const token = await tokens.getAccessToken()
  try {
    return await opened(url, token)
  } catch (error) {
    if (!error.message.endsWith(' 401')) throw error
    return opened(url, await tokens.replaceAccessToken(token))
  }
}

async function opened(url, token) {
  const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } })
  await once(socket, 'open') // rejects if the socket reports an error
  return socket
}
