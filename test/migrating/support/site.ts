import { resolve } from 'node:path'
import { startThread } from '../../oauth2/support/oidc-server.ts'

export interface Counts {
  readonly logins: number
  readonly refreshes: number
  readonly reuseAlarms: number
  /** API requests with an invalid token. */
  readonly rejected: number
  /** Different API requests that succeeded. */
  readonly served: number
}

/** A page and its API, at oidc-provider. */
export interface MigrationSite {
  readonly page: string
  readonly issuer: string
  /** The server's metadata, as a string in JavaScript. */
  readonly metadata: string
  readonly redeemable: () => Promise<Record<'code' | 'code_verifier' | 'redirect_uri', string>>
  readonly deploy: () => Promise<unknown>
  readonly counts: () => Promise<Counts>
  /** From now on the API rejects the access tokens that it has seen. */
  readonly expireAccess: () => Promise<unknown>
  readonly close: () => Promise<unknown>
}

/** @param issuerPath Auth0's issuers end with a slash. */
export async function startMigrationSite(pages: string, issuerPath = ''): Promise<MigrationSite> {
  const { call, end } = startThread('../../migrating/support/site.mjs', { pages: resolve(pages), issuerPath })
  return {
    ...(await call<Pick<MigrationSite, 'page' | 'issuer' | 'metadata'>>('start')),
    redeemable: () => call('redeemable'),
    deploy: () => call('deploy'),
    counts: () => call('counts'),
    expireAccess: () => call('expireAccess'),
    close: end,
  }
}
