import { credentials, Metadata, status } from '@grpc/grpc-js'

/** Credentials for a channel: each call carries a fresh token. @param tls `credentials.createSsl()`; gRPC sends no token without TLS. */
export function withTokens(tls, tokens) {
  const ofEachCall = credentials.createFromMetadataGenerator((_, give) => {
    const metadata = (token) => {
      const made = new Metadata()
      made.set('authorization', `Bearer ${token}`)
      return made
    }
    tokens.getAccessToken().then((token) => give(null, metadata(token)), give)
  })
  return credentials.combineChannelCredentials(tls, ofEachCall)
}

/** Makes a unary call. If the server rejects the token, calls once more with another token. @param send Calls, and returns a promise. */
export async function called(send, tokens) {
  const token = await tokens.getAccessToken()
  try {
    return await send()
  } catch (error) {
    if (error.code !== status.UNAUTHENTICATED) throw error
    await tokens.replaceAccessToken(token)
    return send()
  }
}
