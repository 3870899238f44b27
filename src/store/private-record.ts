import type { Clock } from '../core/clock.ts'
import { TokenError } from '../core/errors.ts'
import { MemoryRecord } from '../core/memory-store.ts'
import { TokenClock } from '../core/token-clock.ts'
import type { GrantedClaim, NewTokens, StoredTokens, StoreReports, TokenRecord } from '../core/token-store.ts'
import { ForeignRecord } from './record-text.ts'
import { aged, SharedRecord, type SharedSettings } from './shared-record.ts'
import { Untold } from './untold.ts'

export interface StoreSettings extends SharedSettings {
  readonly onUnavailable: 'private' | 'fail'
  readonly reasonOf: (thrown: unknown) => string
}

/** Tokens that the store may not have. This process shares them before its next claim: perhaps no exchange can bring them again. */
interface Unshared {
  readonly tokens: NewTokens
  /** On the token clock. */
  readonly at: number
  /** When the person logged in, on the token clock. A private renewal does not change it. */
  readonly loginAt: number
  /** The claim that the tokens settle. Undefined: they are those of a login. */
  readonly claim?: GrantedClaim | undefined
}

/** The shared record, and while it cannot be used a private one, whose tokens nobody else gets. */
export function sharedOrPrivate(
  settings: StoreSettings,
  key: string,
  clock: Clock,
  reports: StoreReports,
): TokenRecord {
  const shared = new SharedRecord(settings, key, clock, reports)
  const own = new MemoryRecord(clock)
  const untold = new Untold(() => shared.overlap(), clock)
  const tokenClock = new TokenClock(clock)
  /** Private tokens carry the version that this owner saw last, so that every pair that is shared later counts as newer. */
  let seen = 0
  /** The record is foreign (`ForeignRecord`): this process does not note its private exchanges there. */
  let isForeign = false
  let isReadable = settings.keyRing.ids.includes('')
  let unshared: Unshared | undefined
  /** A logout that the store may not have, and when it was, on the token clock. */
  let untoldLogout: { readonly login: number; readonly at: number } | undefined
  /** Resolves when the last `clear` or `adopt` has ended. Later steps must not overtake that one. */
  let last: Promise<unknown> = Promise.resolve()

  /** Runs a step after the last one of its kind has ended. Claims wait for this step from now on. */
  function inTurn<Value>(step: () => Promise<Value>): Promise<Value> {
    const ended = last.then(step)
    last = ended.catch(() => undefined)
    return ended
  }

  function unavailable(thrown: unknown): TokenError {
    if (thrown instanceof ForeignRecord) {
      const unusable = `The shared token record cannot be used: ${thrown.message}`
      reports.anomaly('stored-tokens-unusable', unusable)
      return new TokenError('ERR_STORE_UNAVAILABLE', unusable)
    }
    const message = `The shared token store is unavailable (${settings.reasonOf(thrown)})`
    reports.storeUnavailable(message)
    return new TokenError('ERR_STORE_UNAVAILABLE', message)
  }

  const rejected = (thrown: unknown): never => {
    throw unavailable(thrown)
  }

  function asOfNow(tokens: NewTokens, claim?: GrantedClaim): Unshared {
    const at = tokenClock.now()
    return { tokens, claim, at, loginAt: at }
  }

  const agedSince = ({ tokens, at }: Unshared) => aged(tokens, tokenClock.now() - at)
  const asSeen = ({ login: _, ...tokens }: StoredTokens): StoredTokens => ({ ...tokens, version: seen })

  /** Until the store has answered, the tokens count as unshared. */
  async function confirmed(tokens: Unshared, step: () => Promise<StoredTokens>): Promise<StoredTokens> {
    const stored = await step()
    if (unshared === tokens) unshared = undefined
    return stored
  }

  async function told<Answer>(ended: typeof untoldLogout, step: () => Promise<Answer>): Promise<Answer> {
    const answer = await step()
    if (untoldLogout === ended) untoldLogout = undefined
    return answer
  }

  /**
   * Repeats the step whose answer is missing. If the store had executed it, or something later, nothing changes.
   *
   * @returns The highest version that this owner has seen then.
   */
  async function share(seenVersion: number): Promise<number> {
    const ended = untoldLogout
    if (ended) await told(ended, () => shared.clear(seenVersion, ended.login, tokenClock.now() - ended.at))
    const before = unshared
    if (!before) return seenVersion
    const { claim, loginAt } = before
    const tokens = agedSince(before)
    if (claim) {
      await confirmed(before, () => shared.accept(claim, tokens))
      return seenVersion
    }
    const step = () => shared.adopt(seenVersion, tokens, tokenClock.now() - loginAt)
    const { version } = await confirmed(before, step)
    // The private record has the tokens of a login, too. From now on other owners may present their refresh token.
    if (!unshared) await own.clear(own.version)
    return version
  }

  return {
    async claim(owner, seenVersion, ttlMs, terms) {
      // Reported once, and not in open(): before the first claim nobody can listen.
      if (isReadable)
        reports.anomaly('stored-tokens-readable', 'Tokens are stored readable: the store has no encryptionKeys')
      isReadable = false
      try {
        const sharedVersion = await inTurn(() => share(seenVersion))
        const { owed } = untold
        const answer = await shared.claim(owner, sharedVersion, ttlMs, { ...terms, overlaps: owed > 0 })
        if (answer.kind === 'granted') untold.know(owed)
        return answer
      } catch (thrown) {
        const error = unavailable(thrown)
        isForeign = thrown instanceof ForeignRecord
        // A rolling deploy leaves foreign records. It stops nobody who can obtain. A person's login is in the record alone.
        const canObtain = isForeign && terms?.needsLogin !== true
        if (settings.onUnavailable === 'fail' && !canObtain) throw error
      }
      seen = seenVersion
      const answer = await own.claim(owner, own.version, ttlMs, terms)
      if (answer.kind !== 'granted') return answer
      if (!isForeign) untold.owe()
      const tokens = answer.tokens && { tokens: asSeen(answer.tokens) }
      // Every other process may obtain for itself meanwhile. At some services that ends the session of these tokens.
      return { ...answer, ...tokens, isPrivate: true, overlapped: true }
    },

    async accept(claim, tokens) {
      if (claim.isPrivate) {
        // Noted again: if others renewed twice while this exchange was in flight, the first note is gone.
        if (!isForeign) untold.owe()
        const stored = await own.accept(claim, tokens)
        // Whose login it is, the answer of an exchange does not tell.
        const { subject, loginId } = stored
        const ofLogin = {
          ...tokens,
          ...(subject !== undefined && { subject }),
          ...(loginId !== undefined && { loginId }),
        }
        if (unshared && !unshared.claim) unshared = { ...asOfNow(ofLogin), loginAt: unshared.loginAt }
        return asSeen(stored)
      }
      const brought = (unshared = asOfNow(tokens, claim))
      return confirmed(brought, () => shared.accept(claim, tokens)).catch((thrown: unknown) => {
        unavailable(thrown)
        // The tokens serve here even if the store has not stored them: an outage fails no request while there is a token.
        return { ...agedSince(brought), version: claim.version }
      })
    },

    release: (claim, ...told) =>
      claim.isPrivate ? own.release(claim, ...told) : shared.release(claim, ...told).catch(rejected),

    async adopt(seenVersion, tokens) {
      const login = (unshared = asOfNow(tokens))
      untoldLogout = undefined
      void own.clear(own.version)
      try {
        return await confirmed(login, () => inTurn(() => shared.adopt(seenVersion, agedSince(login))))
      } catch (thrown) {
        const error = unavailable(thrown)
        if (settings.onUnavailable === 'fail') throw error
        // If they differ, there was another login, or a logout, since.
        if (unshared === login) await own.adopt(own.version, agedSince(login))
        return { ...agedSince(login), version: seenVersion }
      }
    },

    clear(seenVersion, login) {
      unshared = undefined
      const ended = (untoldLogout = login === undefined ? undefined : { login, at: tokenClock.now() })
      void own.clear(own.version)
      return told(ended, () => inTurn(() => shared.clear(seenVersion, login))).catch(rejected)
    },

    close: () => untold.close(),
    // A login or a logout that the store does not know yet must not look like the end, or the return, of a login.
    look: async (seenVersion, login) => shared.look(await inTurn(() => share(seenVersion)), login),
    watch: (onChange) => settings.register.watch?.(onChange),
  }
}
