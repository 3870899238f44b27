import { io } from 'socket.io-client'

/** Connects with socket.io. If the server rejects the token, connects once more with another token. `refusal`: the message of the server's error. */
export function connect(url, tokens, refusal = 'unauthorized') {
  let token
  let hasReplaced = false
  const socket = io(url, {
    // socket.io asks at each connection, also when it connects again. Without a token the server rejects the connection, and the application receives
    // `connect_error`.
    auth: async (give) => {
      token = await tokens.getAccessToken().catch(() => undefined)
      give({ token })
    },
  })
  socket.on('connect', () => (hasReplaced = false))
  socket.on('connect_error', async ({ message }) => {
    // After any other error socket.io tries again by itself.
    if (message !== refusal || token === undefined || hasReplaced) return
    hasReplaced = true
    await tokens.replaceAccessToken(token).catch(() => undefined)
    socket.connect()
  })
  return socket
}
