import { withinLimit } from '../core/deadline.ts'
import { asGiven, checkedName, checkFunction, type Readers } from '../core/option-checks.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import { checkCredential, fromFunction } from '../wire/credential.ts'

export interface ProvidedCredentials<Credentials> {
  /**
   * Called once per exchange, e.g. to query a secret manager. The exchange uses the result throughout. If the function throws, the manager keeps only
   * the name, code and stack frames of the error, so log the error yourself.
   */
  credentials: () => Credentials | Promise<Credentials>
  /**
   * Names the account. With a `store`, `createTokenManager` throws unless this or `storeKey` is given: two accounts must not
   * share one key.
   */
  account?: string | undefined
}

/** A function that hangs must not hide that the service rejected a refresh token. */
const REPORT_LIMIT_MS = 2_000

export const CREDENTIAL_OPTIONS = {
  credentials: asGiven,
  account: asGiven,
} satisfies Readers<ProvidedCredentials<unknown>>

/** Constant credentials, or those that a function returns at each exchange. */
export interface CredentialSource<Credentials> {
  /** Empty if the account is not known before the first exchange. */
  readonly account: string
  /**
   * @param context The context of the exchange, if nothing has been sent yet.
   * @returns A copy for one exchange.
   * @throws {TokenError} if the function fails, or returns anything but credentials.
   */
  get(context?: ExchangeContext): Promise<Credentials>
  /** Constant credentials, as text. */
  readonly fixed?: string
  /** After a rejected refresh: reports to the manager which credentials the function returns now. Never rejects. */
  report(context: ExchangeContext): Promise<void>
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
  if (account !== '') checkedName('account', account)
  const check = (given: unknown) =>
    checkedCredentials((given ?? Object.create(null)) as Partial<Record<Name, unknown>>, names)
  const provided = (context?: ExchangeContext) => fromFunction('credentials', provider as () => unknown, check, context)
  const reported = (context: ExchangeContext | undefined, credentials: Record<Name, string>) => {
    if (context) internalOf(context).hasCredentials?.(JSON.stringify(credentials))
    return credentials
  }
  return {
    account: account as string,
    get: async (context) => reported(context, await provided(context)),
    async report(context) {
      const limit = { clock: context.clock, ms: REPORT_LIMIT_MS, signal: context.signal, atLimit: () => undefined }
      // Called without the context, because the refresh has been sent, and the response of the service decides, whatever the function returns.
      await withinLimit(provided(), limit).then(
        (credentials) => reported(context, credentials),
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
  return { account: fixed[name], fixed: text, get: () => Promise.resolve(fixed), report: () => Promise.resolve() }
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
