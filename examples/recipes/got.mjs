import got from 'got'

/** got takes no fetch: its hooks ask the manager. @param origin The only origin that gets the token. */
export function withTokens(tokens, origin) {
  return got.extend({
    hooks: {
      beforeRequest: [
        async ({ url, headers }) => {
          // Also called before a redirect is followed, to wherever it leads.
          if (url.origin === origin) headers.authorization = `Bearer ${await tokens.getAccessToken()}`
        },
      ],
      afterResponse: [
        async (response, sendAgain) => {
          const { authorization } = response.request.options.headers
          if (response.statusCode !== 401 || authorization === undefined) return response
          await tokens.replaceAccessToken(authorization.slice('Bearer '.length))
          return sendAgain({}) // this hook does not run for the second response
        },
      ],
    },
  })
}
