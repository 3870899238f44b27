import type { MachineInstant } from '../core/lease.ts'
import { OTHER_OWNERS } from '../record/other-owners.ts'
import { checkChoice, checkedDuration, checkedName, type Readers, readOptions } from '../core/option-checks.ts'
import { checkWebCrypto } from '../core/runtime.ts'
import { member } from '../core/thrown.ts'
import { bare } from '../core/whole.ts'
import { boundRecord } from '../record/bound-record.ts'
import type { OpenableStore, TokenStore } from '../core/token-store.ts'
import { Changes } from './changes.ts'
import { checkedRegister } from './checked-register.ts'
import { reasonIn } from './reason.ts'
import { type EncryptionKey, KeyRing } from './sealed-box.ts'
import { SharedOrPrivate, type StoreSettings } from './shared-or-private.ts'
import { Steps } from './steps.ts'
import { Together } from './together.ts'
import type { TokenRegister } from './token-register.ts'

export interface SharedStoreOptions {
  /** First part of every key. Default `evergreen`. */
  prefix?: string | undefined
  /**
   * AES-256-GCM keys: 32 bytes, or a `CryptoKey`, or a promise of a key, such as `browserKey()`. The first key seals the record; each of them can open it.
   * Steps of the store wait for a promised key. While the promise is pending, or if it rejects, the record is left alone, as if the store were unavailable.
   * Without keys the store keeps tokens unencrypted, and reports one anomaly.
   */
  encryptionKeys?: readonly (EncryptionKey | PromiseLike<EncryptionKey>)[] | undefined
  /**
   * Longest wait for one step of the register, ms. Default 250. Four times this for the first lease request of an owner without a token, for a login and for
   * a logout.
   */
  commandTimeoutMs?: number | undefined
  /** While the store is unavailable: `private`: each process obtains its own tokens; `fail`: `ERR_STORE_UNAVAILABLE`. Default `private`. */
  onUnavailable?: 'private' | 'fail' | undefined
}

/** The readers of the options that every shared store has. */
export const SHARED = {
  prefix: checkedPrefix,
  encryptionKeys: (_, given) => given as SharedStoreOptions['encryptionKeys'],
  commandTimeoutMs: (name, given = 250) => checkedDuration(name, given, 1),
  onUnavailable: (name, given = 'private') => checkChoice(name, given, ['private', 'fail']),
} satisfies Readers<SharedStoreOptions>

/** The options with their defaults. */
export type SharedSettings = Pick<SharedStoreOptions, 'encryptionKeys'> &
  Pick<StoreSettings, 'prefix' | 'commandTimeoutMs' | 'onUnavailable'>

function checkedPrefix(name: string, given: unknown = 'evergreen'): string {
  const prefix = checkedName(name, given)
  if (/[{}]/.test(prefix)) throw new TypeError(`${name} must not contain braces, got '${prefix}'`)
  return prefix
}

/**
 * Shares the tokens of each account among all owners that use the same register and the same `prefix`. One of them renews, and the others adopt its
 * tokens. If the owner that renews dies, another takes over. It presents a single-use refresh token again only for a login, and only once no access token
 * is valid.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { sharedStore } from 'axios-evergreen/store'
 *
 * const key = Buffer.from(process.env.TOKEN_KEY ?? '', 'base64') // 32 bytes
 * const store = sharedStore(register, { encryptionKeys: [{ id: '2026-11', key }] })
 * const tokens = createTokenManager({ source, store })
 * ```
 * @throws {TypeError | RangeError} naming the option.
 */
export function sharedStore(register: TokenRegister, options: SharedStoreOptions = {}): TokenStore {
  const own = readOptions('The options of sharedStore', options, SHARED, '')
  return storeOn(checkedRegister(register), own, reasonOfRegister, { NotifiedOf: Changes })
}

/** The message of an error may contain a secret. Codes and names do not, nor does `fetch failed`, the message if the server is unreachable (F416). */
function reasonOfRegister(thrown: unknown): string {
  return reasonIn(thrown, {}, (message) => {
    const [name, code] = [member(thrown, 'name'), member(member(thrown, 'cause'), 'code')]
    if (typeof code === 'string' && /^[A-Z_0-9]{1,60}$/.test(code)) return code
    if (message === 'fetch failed') return message
    if (typeof name !== 'string' || !/^\w{1,60}$/.test(name)) return undefined
    // The name of an AbortSignal that ended its request.
    return /^(Timeout|Abort)Error$/.test(name) ? `no response: ${name}` : `the register threw ${name}`
  })
}

/**
 * @param register Its replies are not checked (`checkedRegister`).
 * @param reasonOf Describes why a step of the register failed, without secrets.
 * @param given.isAlone Whether this process currently has no store that others could share.
 * @param given.machineNow See `StoredStateSettings` in `stored-state.ts`.
 * @param given.NotifiedOf For registers that report whether they watch (`isWatching`). Browser bundles omit it.
 */
export function storeOn(
  register: TokenRegister,
  { encryptionKeys, ...options }: SharedSettings,
  reasonOf: (thrown: unknown) => string,
  given: { isAlone?: () => boolean; NotifiedOf?: typeof Changes; machineNow?: () => MachineInstant | undefined } = {},
): TokenStore {
  checkWebCrypto('A shared store', 'do without')
  const { isAlone, NotifiedOf, machineNow } = bare(given)
  const settings: StoreSettings = {
    ...options,
    register,
    machineNow,
    keyRing: new KeyRing(encryptionKeys),
    steps: new Steps(register.capacity),
    reads: new Together(),
    writing: new Map(),
    epochs: new Map(),
    reasonOf,
    isAlone,
    changes: NotifiedOf && register.isWatching && new NotifiedOf(register),
  }
  const store: OpenableStore = {
    kind: register.kind,
    others: OTHER_OWNERS,
    open: (key, ...owner) => boundRecord(key, (name) => new SharedOrPrivate(settings, name, ...owner)),
  }
  return Object.freeze(store)
}
