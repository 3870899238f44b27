import { createClient } from 'graphql-ws'

/** A subscription client. Each connection gets the current token. If the server closes it with 4403 (Forbidden), the next connection gets another token. */
export function subscriber(url, tokens, options) {
  let sent
  let refused
  return createClient({
    url,
    retryAttempts: Infinity,
    ...options,
    async connectionParams() {
      sent = await (refused === undefined ? tokens.getAccessToken() : tokens.replaceAccessToken(refused))
      refused = undefined
      return { token: sent }
    },
    on: { closed: ({ code }) => void (code === 4403 && (refused = sent)) },
  })
}
