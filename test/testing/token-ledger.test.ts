import { describe, expect, it } from '@jest/globals'
import { TokenLedger } from '../../tools/testing/token-ledger.ts'

const issuedAt = 1_000_000
const ledger = () => new TokenLedger({ accessLifetimeMs: 60_000, refreshLifetimeMs: 600_000 })

describe('given a token set', () => {
  it.each([
    { age: 0, access: true, refresh: true },
    { age: 59_999, access: true, refresh: true },
    { age: 60_000, access: false, refresh: true },
    { age: 599_999, access: false, refresh: true },
    { age: 600_000, access: false, refresh: false },
  ])('when it is $age ms old, then its access token is valid: $access, its refresh token: $refresh', (row) => {
    const tokens = ledger()
    const pair = tokens.issueTokens(issuedAt)
    const now = issuedAt + row.age
    expect(tokens.acceptsAccess(pair.access, now)).toBe(row.access)
    expect(tokens.currentRefresh(now)).toBe(row.refresh ? pair.refresh : undefined)
    expect(tokens.rotate(pair.refresh, now) !== undefined).toBe(row.refresh)
  })

  it('when it is rotated, then the old refresh token is spent and the old access token stays valid', () => {
    const tokens = ledger()
    const first = tokens.issueTokens(issuedAt)
    const second = tokens.rotate(first.refresh, issuedAt + 1)!
    expect(tokens.rotate(first.refresh, issuedAt + 2)).toBeUndefined()
    expect(tokens.currentRefresh(issuedAt + 2)).toBe(second.refresh)
    expect(tokens.acceptsAccess(first.access, issuedAt + 59_999)).toBe(true)
    expect(tokens.acceptsAccess(first.access, issuedAt + 60_000)).toBe(false)
    expect(second).toMatchObject({ accessExpiresAt: issuedAt + 60_001, refreshExpiresAt: issuedAt + 600_001 })
  })

  it('when another token set is obtained, then both refresh tokens are valid and the later one is the current one', () => {
    const tokens = ledger()
    const first = tokens.issueTokens(issuedAt)
    const second = tokens.issueTokens(issuedAt)
    expect(tokens.currentRefresh(issuedAt)).toBe(second.refresh)
    expect(tokens.rotate(first.refresh, issuedAt)).toBeDefined()
    expect(tokens.rotate(second.refresh, issuedAt)).toBeDefined()
  })

  it('when access tokens are revoked, then its access token is rejected and its refresh token is valid', () => {
    const tokens = ledger()
    const pair = tokens.issueTokens(issuedAt)
    tokens.revokeAccess()
    expect(tokens.acceptsAccess(pair.access, issuedAt)).toBe(false)
    expect(tokens.currentRefresh(issuedAt)).toBe(pair.refresh)
    expect(tokens.acceptsAccess(tokens.issueAccess(issuedAt).access, issuedAt)).toBe(true)
  })
})
