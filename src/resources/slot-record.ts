import type { Lease, LeaseResult } from '../core/lease.ts'
import type { NewTokens, StoredTokens } from '../core/stored-tokens.ts'
import type { TokenRecord } from '../core/token-store.ts'
import type { Family } from './family.ts'
import { isOfResource } from './refusals.ts'
import { throughSlot } from './slot-view.ts'

/** The lease of a record that does not project, and what it had. */
interface Own {
  readonly lease: Lease
  readonly askedAt: number
}

type Access = Pick<NewTokens, 'accessToken' | 'accessLifetimeMs' | 'accessRemainingMs' | 'dueRemainingMs'>

const NO_ACCESS: Access = { accessToken: '', accessLifetimeMs: 0, accessRemainingMs: 0 }

/**
 * The record of a login as the manager of one resource sees it: the refresh token and the lease are those of the login, the access token is that of the resource.
 * A record in a register projects inside its steps (`throughSlot`). One in memory does not: there the login keeps its own access token, and the managers of this
 * process keep theirs.
 */
export function slotRecord(family: Family, key: string): TokenRecord {
  const { record, tokenClock } = family.account.settings
  const leases = new WeakMap<Lease, Own>()
  const digest = family.digestOf(key)
  const now = () => tokenClock.now()
  const ownAccess = ({ lease: { tokens }, askedAt }: Own): Access =>
    tokens ? aged(accessOf(tokens), now() - askedAt) : NO_ACCESS

  /** Tokens of a record that does not project. */
  const projected = (tokens: StoredTokens): StoredTokens =>
    withAccess(tokens, family.accessIn(record, key, tokens) ?? NO_ACCESS)

  async function acquire(...[, seenVersion, ttlMs, terms]: Parameters<TokenRecord['acquire']>): Promise<LeaseResult> {
    const resting = family.resting(terms?.breaksCoolDown === true)
    if (resting) return resting
    const seen = { projects: false }
    const use = {
      digest: await digest,
      used: () => family.used(),
      onTooLarge: (one: string) => family.reportTooLarge(one),
    }
    const view: NonNullable<Lease['view']> = (step) => {
      seen.projects = true
      return throughSlot(step as never, use) as never
    }
    const askedAt = now()
    const result = await record.acquire(family.account.settings.owner, seenVersion, ttlMs, { ...terms, view })
    if (seen.projects && !(result.kind === 'granted' && result.isPrivate))
      return result.kind === 'granted' ? { ...result, view } : result
    if (result.kind === 'newer') return { ...result, tokens: projected(result.tokens) }
    if (result.kind !== 'granted') return result
    const lease: Lease = { ...result, ...(result.tokens && { tokens: projected(result.tokens) }) }
    leases.set(lease, { lease: result, askedAt })
    return lease
  }

  async function accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    const own = leases.get(lease)
    const stored = own
      ? await record.accept(own.lease, withAccess(tokens, ownAccess(own)))
      : await record.accept(lease, tokens)
    const isStored = stored.refreshToken === tokens.refreshToken
    if (isStored) family.rotated(stored, lease.version)
    if (!own) return stored
    if (!isStored) return projected(stored)
    family.keepAccess(record, key, stored, accessOf(tokens))
    return withAccess(stored, accessOf(tokens))
  }

  return {
    acquire,
    accept,
    async release(lease, given) {
      const own = leases.get(lease)
      if (!own) return record.release(lease, given)
      const released = await record.release(own.lease, (meanwhile) => {
        const { newer } = meanwhile
        const report =
          typeof given === 'function' ? given({ ...meanwhile, ...(newer && { newer: projected(newer) }) }) : given
        const { shared, ...others } = report
        // The cool-down of a refused resource is not that of the login.
        if (shared?.kind === 'cool-down' && isOfResource(shared)) return others
        if (shared?.kind === 'cool-down') family.rests(shared)
        return report
      })
      return released.newer ? { ...released, newer: projected(released.newer) } : released
    },
    acquireForLogout: (...given) => record.acquireForLogout(...given),
    adopt: (...given) => record.adopt(...given),
    clear: (...given) => record.clear(...given),
    ...(record.watch && { watch: (onChange: () => void) => record.watch?.(onChange) }),
  }
}

function accessOf({ accessToken, accessLifetimeMs, accessRemainingMs, dueRemainingMs }: NewTokens): Access {
  return { accessToken, accessLifetimeMs, accessRemainingMs, ...(dueRemainingMs !== undefined && { dueRemainingMs }) }
}

function aged({ accessRemainingMs, dueRemainingMs, ...access }: Access, byMs: number): Access {
  return {
    ...access,
    accessRemainingMs: accessRemainingMs - byMs,
    ...(dueRemainingMs !== undefined && { dueRemainingMs: dueRemainingMs - byMs }),
  }
}

/** The same tokens with another access token. */
function withAccess<Tokens extends NewTokens>({ dueRemainingMs: _, ...tokens }: Tokens, access: Access): Tokens {
  return { ...tokens, ...access } as unknown as Tokens
}
