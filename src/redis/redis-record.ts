import type { Clock } from '../core/clock.ts'
import { digestOf, fingerprintOf } from '../core/digest.ts'
import { checkedGrant } from '../core/token-source.ts'
import {
  type ClaimAnswer,
  type CoolDown,
  type GrantedClaim,
  type NewTokens,
  type RefreshTokenFate,
  type ReleaseAnswer,
  RESERVE_MS,
  type Retry,
  type StoredTokens,
  type StoreReports,
  type TokenRecord,
} from '../core/token-store.ts'
import { type commandOf, Script, within } from './command.ts'
import { CLAIM, SCHEMA, SETTLE } from './scripts.ts'
import type { KeyRing } from './sealed-box.ts'

const claimScript = new Script(CLAIM)
const settleScript = new Script(SETTLE)

export interface RedisSettings {
  readonly command: ReturnType<typeof commandOf>
  readonly prefix: string
  readonly keyRing: KeyRing
  readonly commandTimeoutMs: number
  readonly onUnavailable: 'private' | 'fail'
}

/** The record may be left to those who understand it: it is of a newer release, or sealed with an unknown key. */
export class ForeignRecord extends Error {}

/** A granted claim, and what settles it. */
interface RedisClaim extends GrantedClaim {
  readonly owner: string
  /** The clock of Redis at the grant, and the monotonic clock here when the answer had come. */
  readonly redisNow: number
  readonly receivedAt: number
}

/** What the scripts answer. */
interface Answer {
  readonly kind?: 'newer' | 'cooling' | 'busy' | 'granted' | 'foreign'
  readonly flaw?: string
  readonly tokens?: StoredBox
  readonly remainingMs?: number
  readonly coolDown?: string
  readonly contested?: boolean
  readonly fence?: number
  readonly version?: number
  readonly now?: number
  readonly retired?: boolean
  readonly presentations?: number
  readonly failures?: number
}

interface StoredBox {
  readonly version: number
  /** Fingerprint of the refresh token, or of an access token that came alone. */
  readonly pid: string
  readonly kid: string
  readonly box: string
  readonly accessRemainingMs: number
  readonly refreshRemainingMs?: number
}

/**
 * The record of one account in Redis. Rejects where Redis gives no answer in time; every command may be executed late, or
 * twice, without harm: a late `clear` costs one token call.
 */
export class RedisRecord implements TokenRecord {
  readonly #settings: RedisSettings
  readonly #clock: Clock
  readonly #reports: StoreReports
  readonly #key: Promise<string>

  constructor(settings: RedisSettings, key: string, clock: Clock, reports: StoreReports) {
    this.#settings = settings
    this.#clock = clock
    this.#reports = reports
    // Hashed, because a login stands in it; in braces, because a cluster keeps what they enclose together.
    this.#key = digestOf('SHA-256', key).then((digest) => `{${settings.prefix}:${digest.slice(0, 32)}}`)
  }

  async claim(owner: string, seenVersion: number, ttlMs: number): Promise<ClaimAnswer> {
    for (let seen = seenVersion; ;) {
      const sentAt = this.#clock.monotonicNow()
      const args = [owner, String(seen), String(Math.ceil(ttlMs)), JSON.stringify(this.#settings.keyRing.ids)]
      // Too late to be used: without a word of ours it would keep everybody waiting.
      const giveBack = ({ kind, fence = 0, version = 0 }: Answer) => {
        if (kind === 'granted') this.#settle({ owner, fence, version }, ['release', 'keep']).catch(() => undefined)
      }
      const answer = await this.#run(claimScript, args, giveBack)
      if (answer.kind === 'foreign') throw new ForeignRecord(answer.flaw)
      if (answer.flaw !== undefined) this.#reportUnusable(answer.flaw)
      if (answer.kind === 'busy') return { kind: 'busy', remainingMs: answer.remainingMs ?? 0 }
      if (answer.kind === 'cooling') return cooling(answer)
      const tokens = await this.#opened(answer.tokens, sentAt)
      if (answer.kind === 'granted') return this.#granted(owner, answer, tokens)
      if (tokens) return { kind: 'newer', tokens }
      // Nobody can use what stands there: claim the right to replace it.
      seen = answer.tokens?.version ?? seen + 1
    }
  }

  async accept(claim: GrantedClaim, tokens: NewTokens): Promise<StoredTokens> {
    const { owner, redisNow, receivedAt } = claim as RedisClaim
    const { accessToken, accessLifetimeMs, accessRemainingMs, refreshToken, refreshRemainingMs } = tokens
    const pid = await fingerprintOf(refreshToken ?? accessToken)
    const text = JSON.stringify({ accessToken, accessLifetimeMs, refreshToken })
    const { kid, box } = await this.#settings.keyRing.seal(text, await this.#context(pid))
    const sentAt = this.#clock.monotonicNow()
    // An instant of Redis' clock, counted from the grant on: however late the command is executed, it is right.
    const nowThere = redisNow + sentAt - receivedAt
    const ends = [accessRemainingMs, refreshRemainingMs].map((ms) =>
      ms === undefined ? '' : String(Math.floor(nowThere + ms)),
    )
    const answer = await this.#settle({ ...claim, owner }, ['accept', pid, kid, box, ...ends])
    const stored = await this.#opened(answer.tokens, sentAt)
    // What stands there instead cannot be read: nobody but this owner has these.
    return stored ?? { ...tokens, version: claim.version }
  }

  async release(claim: GrantedClaim, fate: RefreshTokenFate, next?: Retry | CoolDown): Promise<ReleaseAnswer> {
    const sentAt = this.#clock.monotonicNow()
    const { owner } = claim as RedisClaim
    const retryMs = next?.kind === 'retry' ? String(Math.ceil(next.ms + RESERVE_MS)) : ''
    const rest =
      next?.kind === 'cool-down' ? [endless(next.ms), String(next.failures), JSON.stringify(next)] : ['', '', '']
    const answer = await this.#settle({ ...claim, owner }, ['release', fate, retryMs, ...rest])
    const newer = await this.#opened(answer.tokens, sentAt)
    return { contested: answer.contested ?? true, ...(newer && { newer }) }
  }

  async clear(seenVersion: number): Promise<void> {
    await this.#settle({ owner: '', fence: 0, version: seenVersion }, ['clear'])
  }

  #granted(owner: string, answer: Answer, tokens: StoredTokens | undefined): RedisClaim {
    const { fence = 0, version = 0, now = 0, presentations = 0, failures = 0 } = answer
    return {
      kind: 'granted',
      owner,
      fence,
      version,
      presentable: tokens?.refreshToken !== undefined && answer.retired === false,
      presentations,
      failures,
      redisNow: now,
      receivedAt: this.#clock.monotonicNow(),
      ...(tokens && { tokens }),
    }
  }

  async #settle(
    { owner, fence, version }: Pick<RedisClaim, 'owner' | 'fence' | 'version'>,
    how: readonly string[],
  ): Promise<Answer> {
    const answer = await this.#run(settleScript, [owner, String(fence), String(version), ...how])
    if (answer.kind === 'foreign') throw new ForeignRecord(answer.flaw)
    return answer
  }

  async #run(script: Script, args: readonly string[], onLate: (answer: Answer) => void = () => undefined) {
    const { command, commandTimeoutMs } = this.#settings
    // Each command by itself: a script that Redis does not know takes two.
    const limited = (asked: Parameters<typeof command>[0]) =>
      within(command(asked), commandTimeoutMs, this.#clock, (reply) => onLate(answerIn(reply)))
    return answerIn(await script.run(limited, await this.#key, args))
  }

  /** @returns undefined where nothing usable is stored. */
  async #opened(stored: StoredBox | undefined, sentAt: number): Promise<StoredTokens | undefined> {
    if (!stored) return undefined
    const { version, pid, kid, box, accessRemainingMs, refreshRemainingMs } = stored
    try {
      const text = await this.#settings.keyRing.open({ kid, box }, await this.#context(pid))
      const { accessToken, accessLifetimeMs, refreshToken } = checkedGrant(JSON.parse(text) as never)
      const elapsedMs = this.#clock.monotonicNow() - sentAt
      return {
        version,
        accessToken,
        accessLifetimeMs,
        accessRemainingMs: accessRemainingMs - elapsedMs,
        ...(refreshToken !== undefined && { refreshToken }),
        ...(refreshRemainingMs !== undefined && { refreshRemainingMs: refreshRemainingMs - elapsedMs }),
      }
    } catch {
      this.#reportUnusable('what stands there cannot be opened')
      return undefined
    }
  }

  /** What a sealed value belongs to: moved anywhere else it does not open. */
  async #context(pid: string): Promise<string[]> {
    return [await this.#key, String(SCHEMA), pid]
  }

  #reportUnusable(why: string): void {
    this.#reports.anomaly('stored-tokens-unusable', `The shared token record counts as absent: ${why}`)
  }
}

function answerIn(reply: unknown): Answer {
  return JSON.parse(String(reply)) as Answer
}

function cooling({ remainingMs = Infinity, coolDown = '' }: Answer): ClaimAnswer {
  const what = JSON.parse(coolDown) as Omit<CoolDown, 'ms'> & { ms: number | null }
  // JSON knows no Infinity.
  return { kind: 'cooling', remainingMs, coolDown: { ...what, ms: what.ms ?? Infinity } }
}

const endless = (ms: number) => (ms === Infinity ? '-1' : String(Math.ceil(ms)))
