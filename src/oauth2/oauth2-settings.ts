import {
  asGiven,
  checkChoice,
  checkedFlag,
  checkFunction,
  checkNumber,
  checkObject,
  checkedName,
  checkText,
  ifGiven,
  type Readers,
  readOptions,
} from '../core/option-checks.ts'
import type { DPoPKey } from '../core/proofs.ts'
import { checkedSecureUrl } from '../core/secure-origin.ts'
import { member } from '../core/thrown.ts'
import { fromFunction } from '../wire/credential.ts'
import { AuthorizationServer } from './authorization-server.ts'
import { classifier, MEANINGS, type CustomErrors } from './custom-meaning.ts'
import type { OAuth2Options } from './oauth2-options.ts'
import { proofKeyOf } from './proof-key.ts'
import {
  type Addresses,
  checkedClient,
  checkedId,
  checkedRevocation,
  checkedScope,
  checkedServer,
  DEFAULT_LIFETIME_MS,
  type OAuth2Settings,
} from './source-settings.ts'

type GrantFunction = Extract<OAuth2Options['grant'], () => unknown>

/** `asGiven`: validated together with other options. */
const OPTIONS = {
  tokenEndpoint: asGiven,
  issuer: asGiven,
  revocationEndpoint: asGiven,
  body: (name, given = 'form') => checkChoice(name, given, ['form', 'json']),
  clientId: checkedId,
  clientSecret: asGiven,
  clientAuthentication: asGiven,
  grant: checkedGrant,
  errors: (_, given) => checkedErrors(given),
  onAnswer: /* @__PURE__ */ ifGiven(checkedCallback),
  dpop: (_, given) => (given ? proofKeyOf(given as DPoPKey) : undefined),
  scope: (_, given) => checkedScope(given),
  parameters: (_, given = {}) => checkedParameters(given as object),
  refreshTokens: /* @__PURE__ */ ifGiven((name, given) =>
    checkChoice(name, given, ['single-use', 'reusable'] as const),
  ),
  reuseGraceMs: (name, given = 0) => checkNumber(name, given, 0),
  defaultLifetimeMs: (name, given = DEFAULT_LIFETIME_MS) => checkNumber(name, given, 1),
  account: /* @__PURE__ */ ifGiven(checkedName),
  transport: asGiven,
  allowInsecureHttp: checkedFlag,
} satisfies Readers<{
  // These are converted to another type.
  [Name in keyof OAuth2Options]: Name extends 'dpop' | 'errors' | 'parameters' ? unknown : OAuth2Options[Name]
}>

/** Validates the options and adds the defaults. @throws {TypeError | RangeError} naming the option, and its value unless it may be secret. */
export function oauth2Settings(options: OAuth2Options): OAuth2Settings {
  for (const name of ['audience', 'resource'])
    if (Object.hasOwn(Object(options) as object, name))
      throw new TypeError(`${name} is not an option: use parameters: { ${name} }`)
  const own = readOptions('The options of oauth2', options, OPTIONS, '')
  const { clientId, grant, account = clientId, refreshTokens = 'single-use' } = own
  const client = checkedClient(own)
  const hasCertificate = client.method === 'none' && carriesCertificate(own.transport)
  return {
    ...own,
    server: serverOf(own, own.allowInsecureHttp, hasCertificate),
    client,
    isAuthenticated: client.method !== 'none' || hasCertificate,
    account,
    refreshTokens,
    keepsRefreshToken: own.refreshTokens !== undefined,
    isUnnamed: own.account === undefined && grant !== 'client_credentials',
    members: membersOf(grant),
  }
}

function checkedGrant(name: string, given: unknown = 'client_credentials') {
  if (typeof given === 'function') return given as GrantFunction
  return checkChoice(name, given, ['client_credentials', 'login'] as const)
}

function checkedCallback(name: string, given: unknown) {
  checkFunction(name, given)
  return given as NonNullable<OAuth2Options['onAnswer']>
}

const NO_ADDRESS = 'tokenEndpoint or issuer must be a URL, got undefined: is the environment variable set?'

function serverOf(own: Addresses, allowInsecureHttp: boolean, hasCertificate: boolean): OAuth2Settings['server'] {
  const { issuer, tokenEndpoint } = own
  if (tokenEndpoint !== undefined) {
    const known = checkedServer(own, allowInsecureHttp)
    return () => known
  }
  if (issuer === undefined) throw new TypeError(NO_ADDRESS)
  const revocationEndpoint = checkedRevocation(own.revocationEndpoint, allowInsecureHttp)
  checkIssuer(checkedSecureUrl('issuer', issuer, allowInsecureHttp))
  const options = { issuer, revocationEndpoint, allowInsecureHttp, hasCertificate }
  return (calls) => new AuthorizationServer(options, calls)
}

function checkIssuer({ search, hash, pathname }: URL): void {
  if (pathname.includes('/.well-known/'))
    throw new TypeError('issuer must be the issuer itself, without /.well-known/ and what follows')
  if (search || hash) throw new TypeError('issuer must have no query and no fragment (RFC 8414, section 2)')
}

function checkedErrors(errors: unknown = {}): CustomErrors {
  if (typeof errors === 'function')
    return { codes: {}, classify: classifier(errors as Parameters<typeof classifier>[0]) }
  checkObject('errors', errors)
  const codes = { ...(errors as CustomErrors['codes']) }
  for (const [code, meaning] of Object.entries(codes)) checkChoice(`errors.${code}`, meaning, MEANINGS)
  return { codes }
}

/** Whether the token requests present a certificate (RFC 8705). The agent is the caller's, so its options are not validated. */
function carriesCertificate(transport: OAuth2Options['transport']): boolean {
  const options = member(member(transport, 'httpsAgent'), 'options')
  return ['cert', 'pfx'].some((name) => member(options, name) !== undefined)
}

/** Parameters that the exchange or other options set. */
const RESERVED = ['grant_type', 'client_id', 'client_secret', 'refresh_token', 'scope']

/** @returns A copy, sorted by name: the id of the source must not depend on the order. */
function checkedParameters(parameters: object): [name: string, value: string][] {
  checkObject('parameters', parameters)
  // The entries of URLSearchParams, a Map or an array are no own members, so nothing would be sent.
  if (Symbol.iterator in parameters) throw new TypeError('parameters must be a plain object: use Object.fromEntries')
  return Object.entries(parameters)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]: [string, unknown]) => {
      if (RESERVED.includes(name)) throw new TypeError(`parameters must not contain ${name}: use its option`)
      checkText(`parameters.${name}`, value)
      return [name, value]
    })
}

/** @returns The grant of an obtain, as members of its token request. */
function membersOf(grant: ReturnType<typeof checkedGrant>): OAuth2Settings['members'] {
  if (typeof grant === 'function') return (context) => fromFunction('grant', grant, checkedGrantParameters, context)
  return grant === 'login' ? undefined : () => ({ grant_type: grant })
}

/** @returns The parameters that the `grant` function returned. @throws {TypeError} without their values. */
function checkedGrantParameters(given: unknown): Readonly<Record<string, string>> {
  checkObject('the parameters', given)
  const parameters = Object.assign(Object.create(null) as Record<string, string>, given)
  checkText('grant_type', parameters.grant_type)
  // A refresh token that the function returns would work once: the manager does not have it, so each renewal would present it again.
  if (parameters.grant_type === 'refresh_token')
    throw new TypeError("grant_type must not be refresh_token: use grant: 'login' and adopt() of the token manager")
  for (const [name, value] of Object.entries(parameters)) checkText(name, value)
  return parameters
}
