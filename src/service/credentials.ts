import { detailsOf, isTokenError, TokenError } from '../core/errors.ts'
import { checkFunction, checkText } from '../core/option-checks.ts'
import { toTokenError } from '../wire/to-token-error.ts'

export interface ProvidedCredentials<Credentials> {
  /**
   * Asked once per exchange, e.g. of a secret manager; its answer serves the whole exchange. Of what it throws only name and
   * code are kept: log it yourself.
   */
  credentials: () => Credentials | Promise<Credentials>
  /**
   * Names the account. With a `store`, `createTokenManager` throws unless this or `storeKey` is given: two accounts must not
   * meet under one key.
   */
  account?: string | undefined
}

export const CREDENTIAL_OPTIONS = ['credentials', 'account'] as const satisfies (keyof ProvidedCredentials<unknown>)[]

/** Credentials, given once for all or asked for at each exchange. */
export interface CredentialSource<Credentials> {
  /** Empty where the account is not known before the first exchange. */
  readonly account: string
  /** A copy that serves one whole exchange. @throws {TokenError} when the provider fails or gives something else. */
  ask(): Promise<Credentials>
}

/**
 * @param names The members, the one that names the account first.
 * @throws {TypeError} naming the option, never its value.
 */
export function credentialSource<Name extends string>(
  options: Partial<Record<Name | 'credentials' | 'account', unknown>>,
  names: readonly [Name, Name],
): CredentialSource<Record<Name, string>> {
  const { credentials: provider, account = '' } = options
  const given = names.filter((name) => options[name] !== undefined)
  if (provider === undefined) {
    const fixed = checkedCredentials(options, names)
    return { account: fixed[names[0]], ask: () => Promise.resolve(fixed) }
  }
  if (given.length > 0) throw new TypeError(`Give either credentials or ${names.join(' and ')}, not both`)
  checkFunction('credentials', provider)
  if (account !== '') checkText('account', account)
  return {
    account: account as string,
    async ask() {
      let given: unknown
      try {
        given = await (provider as () => unknown)()
      } catch (thrown) {
        throw noCredentials(thrown)
      }
      try {
        return checkedCredentials((given ?? Object.create(null)) as Partial<Record<Name, unknown>>, names)
      } catch (error) {
        const message = `The credentials function gave what cannot be used: ${(error as TypeError).message}`
        throw new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'not-sent' })
      }
    },
  }
}

/** What the credentials function threw, told as what became of the exchange: a vault that refuses is not asked again at once. */
function noCredentials(thrown: unknown): TokenError {
  if (isTokenError(thrown)) return thrown
  const error = toTokenError(thrown, 'obtain')
  const outcome = error.outcome === 'unknown' ? 'not-sent' : error.outcome
  const message = 'The credentials function failed: no token call was made'
  return new TokenError(error.code, message, { ...detailsOf(error), outcome })
}

function checkedCredentials<Name extends string>(
  given: Partial<Record<Name, unknown>>,
  names: readonly [Name, Name],
): Record<Name, string> {
  const copy: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value: unknown = given[name]
    if (value === undefined || value === '')
      throw new TypeError(
        `${name} must be given, got ${value === '' ? 'an empty text' : 'undefined'}: is the environment variable set?`,
      )
    checkText(name, value)
    checkCredential(name, value)
    copy[name] = value
  }
  return copy as Record<Name, string>
}

/** What no service issues, but files, shells and templates make. @throws {TypeError} naming the option, never its value. */
function checkCredential(name: string, value: string): void {
  if (/^\s*(undefined|null)\s*$/.test(value))
    throw new TypeError(
      `${name} must be a credential, not the word undefined or null: is the environment variable set?`,
    )
  if (/\p{Cc}/u.test(value))
    throw new TypeError(
      `${name} must have no line break and no other control character: trim the newline of the file that it is read from`,
    )
  // It has no UTF-8 form.
  if (/\p{Surrogate}/u.test(value)) throw new TypeError(`${name} must be well-formed text`)
}
