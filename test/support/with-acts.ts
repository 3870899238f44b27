import type { Act, DatedAct } from '../../src/core/acts.ts'
import type { Clock } from '../../src/index.ts'
import type { AdoptedTokens, NewTokens } from '../../src/core/stored-tokens.ts'
import type { TokenRecord } from '../../src/core/token-store.ts'

let owners = 0

/** A record as one owner has it, whose calls of `adopt` and `clear` are its acts. */
export type OwnRecord = Omit<TokenRecord, 'adopt'> & {
  adopt(seenVersion: number, tokens: NewTokens): Promise<AdoptedTokens>
}

export function withActs(record: TokenRecord, clock: Pick<Clock, 'monotonicNow'>): OwnRecord {
  const owner = `owner ${(owners += 1)}`
  let n = 0
  const act = (seenVersion: number): Act => ({ owner, n: (n += 1), at: clock.monotonicNow(), seenVersion })
  const own: Pick<OwnRecord, 'adopt' | 'clear'> = {
    adopt: (seenVersion, tokens) => record.adopt(seenVersion, tokens, act(seenVersion)),
    clear: (seenVersion, ends) => record.clear(seenVersion, ends && { act: act(seenVersion), ...ends }),
  }
  return new Proxy<object>(record, {
    get(target, name) {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  }) as OwnRecord
}

/** The only act of an owner, at an instant of the record. */
export function actAt(at: number, now: number, seenVersion = 0): DatedAct {
  return { owner: `owner ${(owners += 1)}`, n: 1, at, ms: 0, seenVersion, now }
}
