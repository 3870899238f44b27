import { grantOfSource } from '../../src/core/grant.ts'
import type { DetailedGrant, TokenGrant } from '../../src/core/token-source.ts'

/** @returns The grant of an exchange that presented no refresh token. @throws {TokenError} */
export function checkedGrant(given: DetailedGrant | undefined): Readonly<TokenGrant> {
  return grantOfSource(given, undefined).grant
}
