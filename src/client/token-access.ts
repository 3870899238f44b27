import { systemClock } from '../core/clock.ts'
import { withinLimit } from '../core/deadline.ts'
import { NO_TOKEN_IN_TIME, TokenError } from '../core/errors.ts'
import { internalsOf, type ManagerInternals } from '../core/manager-internals.ts'
import { checkFunction, checkObject, kindOf } from '../core/option-checks.ts'
import { warnOnce } from '../core/runtime.ts'
import type { ResourceTokens } from '../core/token-manager.ts'
import type { WaitOptions } from '../core/waiting-room.ts'

/** What an attachment needs from a manager. */
export interface TokenAccess extends ManagerInternals {
  peek(): string | undefined
  get(options: WaitLimits): Promise<string> | string
  replace(rejected: string, options: WaitLimits): Promise<string>
  readonly firstGeneration: () => number
}
/** How long one caller may wait, and the signal that ends the wait. */
export type WaitLimits = WaitOptions & { maxWaitMs: number }

/** @throws {TypeError} if `tokens` is not a token manager. */
export function checkManager(tokens: ResourceTokens): void {
  checkObject('tokens', tokens)
  if (typeof Reflect.get(tokens, 'obtain') === 'function')
    throw new TypeError('tokens must be a token manager, got a token source: pass createTokenManager({ source })')
  for (const method of ['peekAccessToken', 'getAccessToken', 'replaceAccessToken'])
    checkFunction(`tokens.${method}`, Reflect.get(tokens, method))
}

export function accessTo(tokens: ResourceTokens): TokenAccess {
  const known = internalsOf(tokens)
  const custom = accessToCustom(tokens)
  // A manager of an older copy of this package may lack newer members.
  return known ? { ...custom, ...accessToOwn(tokens, known) } : custom
}

/** The access to a manager of this package, from this or another copy of it. */
export function accessToOwn<Known extends ManagerInternals>(tokens: ResourceTokens, known: Known) {
  return {
    ...known,
    // An origin on Object.prototype is not the origin of the source.
    origin: known.origin === Reflect.get(Object.prototype, 'origin') ? undefined : known.origin,
    peek: () => tokens.peekAccessToken(),
    get: known.awaitToken ?? ((options: WaitLimits) => tokens.getAccessToken(options)),
    replace: (rejected: string, options: WaitLimits) => tokens.replaceAccessToken(rejected, options),
  }
}

const MAX_WAIT_MS = 30_000

/** A custom manager may ignore signals and limits, and may return anything as a token. */
function accessToCustom(tokens: ResourceTokens): TokenAccess {
  const clock = systemClock
  const limited = (name: Asked, { signal, maxWaitMs: ms }: WaitLimits, ask: () => unknown, holdsProcess = true) => {
    const atLimit = () => new TokenError('ERR_WAIT_TIMEOUT', NO_TOKEN_IN_TIME)
    const checked = async () => checkedToken(name, await ask())
    return withinLimit(checked(), { clock, ms, holdsProcess, signal, atLimit })
  }
  const replace = (rejected: string, limits: WaitLimits, holdsProcess?: boolean) =>
    limited('replaceAccessToken', limits, () => tokens.replaceAccessToken(rejected, limits), holdsProcess)
  return {
    clock,
    maxWaitMs: MAX_WAIT_MS,
    origin: undefined,
    // A custom manager has no `anomaly` events.
    anomaly(kind, message) {
      warnOnce(kind, message)
      return true
    },
    hasEnded: () => false,
    firstGeneration: () => 0,
    renewInBackground(rejected) {
      void replace(rejected, { maxWaitMs: MAX_WAIT_MS }, false).catch(() => undefined)
    },
    peek() {
      const token: unknown = tokens.peekAccessToken()
      return token === undefined ? undefined : checkedToken('peekAccessToken', token)
    },
    get: (limits) => limited('getAccessToken', limits, () => tokens.getAccessToken(limits)),
    replace,
  }
}
type Asked = 'getAccessToken' | 'replaceAccessToken'

/** @throws {TypeError} unless the token is visible ASCII. axios would stringify other values, and strip other characters. */
function checkedToken(method: keyof ResourceTokens, token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token
  const got = token === '' ? 'an empty string' : typeof token === 'string' ? 'others' : kindOf(token)
  throw new TypeError(`${method} of the token manager must return a token of visible ASCII characters, got ${got}`)
}
