import type { TokenErrorCode } from '../../src/index.ts'
import type { Proxy } from '../../src/wire/proxy.ts'
import type { Protocol, SignatureForm } from './protocol.ts'

/** What the doctor has found out. Contains no token and no credential. */
export interface Findings {
  /** The payment service. No address has its query. */
  baseUrl?: string
  /** The endpoints of an OAuth 2.0 server, as far as they are known. */
  issuer?: string
  /** The issuer in the metadata, if it is another one. */
  metadataIssuer?: string
  tokenEndpoint?: string
  /** The authentication method of the last attempt. */
  clientAuthentication?: 'basic' | 'post' | 'none'
  /** The server can bind tokens to a key (RFC 9449); `nonce`: it requires a nonce in each proof. */
  dpop?: 'offered' | 'nonce'
  hasRefreshToken?: boolean
  speaks?: Protocol
  obtain?: Call
  refresh?: Call
  accessLifetimeMs?: number | undefined
  refreshLifetimeMs?: number
  /** Whether a refresh returned a new refresh token. */
  rotation?: 'new-token' | 'same-token' | 'no-token'
  signature?: SignatureForm | 'absent' | 'wrong'
  clock?: ClockOffset
  /** The proxy of the token requests. */
  proxy?: Proxy
  /** Headers about a rate limit of token requests. */
  throttling: Record<string, string>
  store?: StoreFindings
  api?: { url: string; status: number; takesToken: boolean | undefined; challenge?: string }
  /** How far the `Date` of the API is ahead of this machine's clock, if the API is not at the origin of the service. */
  apiAheadMs?: number
  /** What works, but not as specified, or not with the defaults of the library. */
  oddities: string[]
  problems: Problem[]
}

export interface Call {
  readonly status: number
  readonly durationMs: number
}

export interface StoreFindings {
  /** Such as `redis`. */
  readonly kind: string
  /** The mean time of a read or a write, ms. Absent if the store cannot be used. */
  readonly stepMs?: number
  /** A second manager found what the first one had stored. */
  readonly isShared?: boolean
}

/** How far the clock of the service is ahead of this machine's. */
export interface ClockOffset {
  readonly aheadMs: number
  readonly uncertaintyMs: number
  readonly by: 'meta.time' | 'Date'
}

export interface Problem {
  readonly step: 'obtain' | 'refresh' | 'api' | 'clock' | 'store'
  readonly code: TokenErrorCode | 'API_REFUSES_TOKEN' | 'API_UNCLEAR' | 'CLOCK_OFF'
  readonly message: string
  /** The server responded, but without metadata: the service is reachable, and its address is wrong. */
  readonly isReachable?: true
  /** Advice beyond the message. */
  readonly advice: readonly string[]
}
