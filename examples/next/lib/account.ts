import axios from 'axios'
import { attachBearer, createTokenManager, type TokenStore } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { redisStore } from 'axios-evergreen/redis'
import { cookies } from 'next/headers'
import { after } from 'next/server'
import { cache } from 'react'
import { createClient } from 'redis'
import { sessionSource } from './session'

/** All users share the store, and nothing else, because a module lives as long as the server. */
let store: TokenStore | undefined

function openStore(): TokenStore {
  const client = createClient({ url: process.env.REDIS_URL! }).on('error', console.warn)
  // Not awaited: the client reconnects by itself.
  client.connect().catch(console.warn)
  const key = Buffer.from(process.env.TOKEN_KEY!, 'base64') // 32 bytes from your secret manager
  return redisStore({ client, encryptionKeys: [{ id: '2026-11', key }] })
}

/** The account of one session, for this request only. */
export function accountOf(session: string) {
  const { TOKEN_ENDPOINT = '', REVOCATION_ENDPOINT: revocationEndpoint, SESSION_ENDPOINT } = process.env
  const login = { tokenEndpoint: TOKEN_ENDPOINT, revocationEndpoint, clientId: 'page', grant: 'login' } as const
  // Keep the source that your application uses.
  const source = SESSION_ENDPOINT ? sessionSource(session) : oauth2(login)
  const tokens = createTokenManager({ source, store: (store ??= openStore()), storeKey: session })
  // After the response: waits for a token request in flight, and ends the timers.
  after(() => tokens.close())
  const api = axios.create({ baseURL: process.env.API_URL! })
  attachBearer(api, tokens)
  return { api, tokens }
}

/** The account of the current user. With `cache`, all components of one response share it. */
export const ownAccount = cache(async () => {
  const session = (await cookies()).get('session')?.value
  return session === undefined ? undefined : accountOf(session)
})
