import type { AxiosAdapter, InternalAxiosRequestConfig } from 'axios'
import type { AnomalyKind } from '../../src/core/events.ts'
import { checkedGrant } from '../support/checked-grant.ts'
import type { TokenGrant, TokenSource } from '../../src/core/token-source.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { answering } from '../service/world.ts'

export const ENDPOINT = 'https://login.example/oauth/token'

/** Invented credentials. Neither occurs in anything else that the tests send or receive. */
export const client = { clientId: 'client-of-nobody', clientSecret: 'secret-of-nobody' }

/** A source whose server is a function, without a socket. */
export const sourceBehind = (adapter: AxiosAdapter, options: Partial<OAuth2Options> = {}): TokenSource =>
  oauth2({ tokenEndpoint: ENDPOINT, ...client, transport: { adapter }, ...options })

export const GRANT = { access_token: 'issued-token', token_type: 'Bearer', expires_in: 3_600 }

export interface Exchanged {
  readonly grant: Readonly<TokenGrant>
  readonly reports: readonly string[]
}

/** One exchange, with its grant checked as a manager checks it. @param refreshToken Of a refresh. */
export async function exchanged(source: TokenSource, refreshToken?: string): Promise<Exchanged> {
  const reports: string[] = []
  const report = (kind: AnomalyKind, message: string) => void reports.push(`${kind}: ${message}`)
  const context = { signal: new AbortController().signal, clock: manualClock(), report }
  const grant = refreshToken === undefined ? source.obtain(context) : source.refresh!(refreshToken, context)
  return { grant: checkedGrant(await grant), reports }
}

/** What one exchange sends. */
export async function sentBy(
  options: Partial<OAuth2Options> = {},
  refreshToken?: string,
): Promise<{ body: string; headers: Record<string, string>; url: string; method: string }> {
  let sent: InternalAxiosRequestConfig | undefined
  const adapter: AxiosAdapter = (config) => {
    sent = config
    return answering(JSON.stringify(GRANT))(config)
  }
  await exchanged(sourceBehind(adapter, options), refreshToken)
  const { headers, url = '', method = '' } = sent!
  return { body: String(sent!.data), headers: headers.toJSON() as Record<string, string>, url, method }
}
