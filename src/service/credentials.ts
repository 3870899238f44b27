import { withinLimit } from '../core/deadline.ts'
import { asGiven, checkFunction, checkText, type Readers } from '../core/option-checks.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import { checkCredential, fromFunction } from '../wire/credential.ts'

export interface ProvidedCredentials<Credentials> {
  /**
   * Called once per exchange, e.g. to ask a secret manager. The result serves the whole exchange. The manager keeps only name,
   * code and stack frames of an error that the function throws, so log the error yourself.
   */
  credentials: () => Credentials | Promise<Credentials>
  /**
   * Names the account. With a `store`, `createTokenManager` throws unless this or `storeKey` is given: two accounts must not
   * share one key.
   */
  account?: string | undefined
}

/** A function that hangs must not hide that the service has refused a refresh token. */
const TELLING_MS = 2_000

export const CREDENTIAL_OPTIONS = {
  credentials: asGiven,
  account: asGiven,
} satisfies Readers<ProvidedCredentials<unknown>>

/** Credentials: fixed ones, or those that a function gives at each exchange. */
export interface CredentialSource<Credentials> {
  /** Empty if the account is not known before the first exchange. */
  readonly account: string
  /**
   * @param context Of the exchange, if nothing has been sent in it.
   * @returns A copy that serves one whole exchange.
   * @throws {TokenError} when the function fails or gives something else.
   */
  ask(context?: ExchangeContext): Promise<Credentials>
  /** Those that are constants, as text. */
  readonly fixed?: string
  /** After a refused refresh: tells the manager which credentials a function gives now. Never rejects. */
  tell(context: ExchangeContext): Promise<void>
}

/**
 * @param names The members. The first one names the account.
 * @throws {TypeError} naming the option, never its value.
 */
export function credentialSource<Name extends string>(
  options: Partial<Record<Name | 'credentials' | 'account', unknown>>,
  names: readonly [Name, Name],
): CredentialSource<Record<Name, string>> {
  const { credentials: provider, account = '' } = options
  if (provider === undefined) return fixedSource(checkedCredentials(options, names), names[0])
  if (names.some((name) => options[name] !== undefined))
    throw new TypeError(`Give either credentials or ${names.join(' and ')}, not both`)
  checkFunction('credentials', provider)
  if (account !== '') checkText('account', account)
  const check = (given: unknown) =>
    checkedCredentials((given ?? Object.create(null)) as Partial<Record<Name, unknown>>, names)
  const provided = (context?: ExchangeContext) => fromFunction('credentials', provider as () => unknown, check, context)
  const say = (context: ExchangeContext | undefined, credentials: Record<Name, string>) => {
    if (context) internalOf(context).hasCredentials?.(JSON.stringify(credentials))
    return credentials
  }
  return {
    account: account as string,
    ask: async (context) => say(context, await provided(context)),
    async tell(context) {
      const limit = { clock: context.clock, ms: TELLING_MS, signal: context.signal, atLimit: () => undefined }
      // Without the context: its refresh has been sent, and what the service said of it counts, whatever the function does.
      await withinLimit(provided(), limit).then(
        (credentials) => say(context, credentials),
        () => undefined,
      )
    },
  }
}

/** A separate function, so that its closure does not keep the options. */
function fixedSource<Name extends string>(
  fixed: Record<Name, string>,
  name: Name,
): CredentialSource<Record<Name, string>> {
  const text = JSON.stringify(fixed)
  return { account: fixed[name], fixed: text, ask: () => Promise.resolve(fixed), tell: () => Promise.resolve() }
}

function checkedCredentials<Name extends string>(
  given: Partial<Record<Name, unknown>>,
  names: readonly [Name, Name],
): Record<Name, string> {
  const copy: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value: unknown = given[name]
    checkCredential(name, value)
    copy[name] = value
  }
  return copy as Record<Name, string>
}
