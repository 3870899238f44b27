import type { Decide, Lease, LeaseResult, ReleaseResult, Report } from '../core/lease.ts'
import type { AdoptedTokens, NewTokens, StoredTokens } from '../core/stored-tokens.ts'
import type { TokenRecord } from '../core/token-store.ts'
import type { Family } from './family.ts'
import { isOfResource, othersFirst } from './refusals.ts'
import { NOTHING_WRITTEN, throughSlot, type Written } from './slot-view.ts'

/** The lease of a record that does not project, and when it was requested. */
interface Own {
  readonly lease: Lease
  readonly askedAt: number
}

type Access = Pick<NewTokens, 'accessToken' | 'accessLifetimeMs' | 'accessRemainingMs' | 'dueRemainingMs'>

const NO_ACCESS: Access = { accessToken: '', accessLifetimeMs: 0, accessRemainingMs: 0 }

/**
 * The record of a login as the manager of one resource sees it: the refresh token and the lease are those of the login, the access token is that of the
 * resource. A record in a register projects: its steps see this view (`throughSlot`). A record in memory does not: it has the login's own access token, and
 * the family keeps those of the resources.
 */
export class SlotRecord implements TokenRecord {
  readonly #family: Family
  readonly #key: string
  readonly #leases = new WeakMap<Lease, Own>()
  readonly #digest: Promise<string>
  /** What the last run of a step has written. */
  #written = NOTHING_WRITTEN

  constructor(family: Family, key: string) {
    this.#family = family
    this.#key = key
    this.#digest = family.digestOf(key)
  }

  async acquire(...[, seenVersion, ttlMs, terms]: Parameters<TokenRecord['acquire']>): Promise<LeaseResult> {
    const { view, projects } = await this.#view()
    const askedAt = this.#now()
    const { owner } = this.#family.account.settings
    const result = await this.#record.acquire(owner, seenVersion, ttlMs, { ...terms, view })
    if (projects() && !(result.kind === 'granted' && result.isPrivate))
      return result.kind === 'granted' ? { ...result, view } : result
    if (result.kind === 'newer') return { ...result, tokens: this.#projected(result.tokens) }
    if (result.kind !== 'granted') return result
    const lease: Lease = { ...result, ...(result.tokens && { tokens: this.#projected(result.tokens) }) }
    this.#leases.set(lease, { lease: result, askedAt })
    return lease
  }

  /** @returns The view for the steps of a register, and whether the record has used it. */
  async #view(): Promise<{ view: NonNullable<Lease['view']>; projects: () => boolean }> {
    let projects = false
    const use = {
      digest: await this.#digest,
      used: () => this.#family.used(),
      onRun: (written: Written) => void (this.#written = written),
    }
    const view: NonNullable<Lease['view']> = (step) => {
      projects = true
      return throughSlot(step as never, use) as never
    }
    return { view, projects: () => projects }
  }

  async accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    const own = this.#leases.get(lease)
    const stored = own
      ? await this.#record.accept(own.lease, withAccess(tokens, this.#ownAccess(own)))
      : await this.#told(this.#record.accept(lease, tokens))
    const isStored = stored.refreshToken === tokens.refreshToken
    if (isStored) this.#family.rotated(stored, lease.version)
    if (!own) return stored
    if (!isStored) return this.#projected(stored)
    this.#family.keepAccess(this.#record, this.#key, stored, accessOf(tokens))
    return withAccess(stored, accessOf(tokens))
  }

  async release(lease: Lease, given: Report | Decide): Promise<ReleaseResult> {
    const own = this.#leases.get(lease)
    const decided: Decide = (meanwhile) => othersFirst(typeof given === 'function' ? given(meanwhile) : given)
    if (!own) return this.#told(this.#record.release(lease, decided))
    const released = await this.#record.release(own.lease, (meanwhile) => this.#reported(decided, meanwhile))
    return released.newer ? { ...released, newer: this.#projected(released.newer) } : released
  }

  /** Reports to the family what a step has written, once the record has it. */
  async #told<Result>(writing: Promise<Result>): Promise<Result> {
    const result = await writing
    this.#family.written(this.#written)
    this.#written = NOTHING_WRITTEN
    return result
  }

  /** @returns The report, without its cool-down if the server rejected only the resource: a record in memory has no place for it. */
  #reported(decided: Decide, { newer, contested }: ReleaseResult): Report {
    const { shared, ...others } = decided({ contested, newer: newer && this.#projected(newer) })
    return shared?.kind === 'cool-down' && isOfResource(shared) ? others : { ...others, shared }
  }

  acquireForLogout(...given: Parameters<TokenRecord['acquireForLogout']>): Promise<LeaseResult> {
    return this.#record.acquireForLogout(...given)
  }

  adopt(...given: Parameters<TokenRecord['adopt']>): Promise<AdoptedTokens> {
    return this.#record.adopt(...given)
  }

  clear(...given: Parameters<TokenRecord['clear']>): Promise<StoredTokens | undefined> {
    return this.#record.clear(...given)
  }

  watch(onChange: () => void): (() => void) | undefined {
    return this.#record.watch?.(onChange)
  }

  get #record(): TokenRecord {
    return this.#family.account.settings.record
  }

  #now(): number {
    return this.#family.account.settings.tokenClock.now()
  }

  #ownAccess({ lease: { tokens }, askedAt }: Own): Access {
    return tokens ? aged(accessOf(tokens), this.#now() - askedAt) : NO_ACCESS
  }

  /** @returns Tokens of a record that does not project, with the access token of the resource. */
  #projected(tokens: StoredTokens): StoredTokens {
    return withAccess(tokens, this.#family.accessIn(this.#record, this.#key, tokens) ?? NO_ACCESS)
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
