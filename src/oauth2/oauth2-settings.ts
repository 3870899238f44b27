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
import { checkCredential } from '../wire/credential.ts'
import type { AuthenticatedClient } from './client-authentication.ts'
import { MEANINGS, type CustomErrors } from './custom-meaning.ts'
import type { OAuth2Options } from './oauth2-options.ts'
import { proofKeyOf } from './proof-key.ts'

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
  defaultLifetimeMs: (name, given = 300_000) => checkNumber(name, given, 1),
  account: /* @__PURE__ */ ifGiven(checkedName),
  transport: asGiven,
  allowInsecureHttp: checkedFlag,
} satisfies Readers<{
  // These are converted to another type.
  [Name in keyof OAuth2Options]: Name extends 'dpop' | 'errors' | 'parameters' ? unknown : OAuth2Options[Name]
}>

export type OAuth2Settings = ReturnType<typeof oauth2Settings>

/** Validates the options and adds the defaults. @throws {TypeError | RangeError} naming the option, and its value unless it may be secret. */
export function oauth2Settings(options: OAuth2Options) {
  for (const name of ['audience', 'resource'])
    if (Object.hasOwn(Object(options) as object, name))
      throw new TypeError(`${name} is not an option: use parameters: { ${name} }`)
  const own = readOptions('The options of oauth2', options, OPTIONS, '')
  const { clientId, grant, account = clientId, refreshTokens = 'single-use' } = own
  const client = checkedClient(own)
  const hasCertificate = client.method === 'none' && carriesCertificate(own.transport)
  return {
    ...own,
    server: { ...checkedServer(own, own.allowInsecureHttp), hasCertificate },
    client,
    /** Whether the client has a secret, a key or a certificate that could be wrong. */
    isAuthenticated: client.method !== 'none' || hasCertificate,
    account,
    refreshTokens,
    /** Whether to keep a refresh token that was issued for client credentials. */
    keepsRefreshToken: own.refreshTokens !== undefined,
    /** Whether only `clientId` names the account, which many users share. */
    isUnnamed: own.account === undefined && grant !== 'client_credentials',
  }
}

function checkedId(name: string, given: unknown): string {
  checkCredential(name, given)
  return given
}

function checkedGrant(name: string, given: unknown = 'client_credentials') {
  if (typeof given === 'function') return given as GrantFunction
  return checkChoice(name, given, ['client_credentials', 'login'] as const)
}

function checkedCallback(name: string, given: unknown) {
  checkFunction(name, given)
  return given as NonNullable<OAuth2Options['onAnswer']>
}

/** The addresses of a server in the options. */
export interface ServerAddresses {
  readonly tokenEndpoint: URL | undefined
  readonly revocationEndpoint: URL | undefined
  /** A string must equal the issuer in the metadata character by character. */
  readonly issuer: string | URL | undefined
  readonly allowInsecureHttp: boolean
  /** Whether the client authenticates by its certificate (RFC 8705). */
  readonly hasCertificate: boolean
}

const NO_ADDRESS = 'tokenEndpoint or issuer must be a URL, got undefined: is the environment variable set?'

type Addresses = Pick<OAuth2Options, 'tokenEndpoint' | 'revocationEndpoint' | 'issuer'>

function checkedServer(own: Addresses, allowInsecureHttp: boolean): Omit<ServerAddresses, 'hasCertificate'> {
  const checked = (name: 'tokenEndpoint' | 'revocationEndpoint') => {
    if (own[name] === undefined) return undefined
    const url = checkedSecureUrl(name, own[name], allowInsecureHttp)
    if (url.hash !== '') throw new TypeError(`${name} must have no fragment (RFC 6749, section 3.2)`)
    return url
  }
  const { issuer } = own
  if (own.tokenEndpoint === undefined && issuer === undefined) throw new TypeError(NO_ADDRESS)
  const [tokenEndpoint, revocationEndpoint] = [checked('tokenEndpoint'), checked('revocationEndpoint')]
  if (!tokenEndpoint) {
    const { search, hash, pathname } = checkedSecureUrl('issuer', issuer, allowInsecureHttp)
    if (pathname.includes('/.well-known/'))
      throw new TypeError('issuer must be the issuer itself, without /.well-known/ and what follows')
    if (search || hash) throw new TypeError('issuer must have no query and no fragment (RFC 8414, section 2)')
  } else if (issuer !== undefined && !(issuer instanceof URL)) checkText('issuer', issuer)
  return { tokenEndpoint, revocationEndpoint, issuer, allowInsecureHttp }
}

function checkedErrors(errors: unknown = {}): CustomErrors {
  if (typeof errors === 'function') return { codes: {}, classify: errors as CustomErrors['classify'] }
  checkObject('errors', errors)
  const codes = { ...(errors as CustomErrors['codes']) }
  for (const [code, meaning] of Object.entries(codes)) checkChoice(`errors.${code}`, meaning, MEANINGS)
  return { codes, classify: undefined }
}

type Client = Pick<OAuth2Options, 'clientId' | 'clientSecret' | 'clientAuthentication' | 'grant'>

function checkedClient({ clientId, clientSecret, clientAuthentication, grant }: Client) {
  // A public client must not use client credentials (RFC 6749, section 4.4), so a missing secret is an environment variable that is not set.
  const isPublic = clientSecret === undefined && grant !== 'client_credentials'
  const method = clientAuthentication ?? (isPublic ? 'none' : 'basic')
  if (typeof method !== 'function') checkChoice('clientAuthentication', method, ['basic', 'post', 'none'])
  if (method === 'none' && clientSecret !== undefined)
    throw new TypeError("clientSecret must not be given with clientAuthentication 'none', which does not send it")
  if (typeof clientSecret === 'function') checkFunction('clientSecret', clientSecret)
  else if (clientSecret !== undefined || method === 'basic' || method === 'post')
    checkCredential('clientSecret', clientSecret)
  return { clientId, clientSecret, method } satisfies AuthenticatedClient
}

/** Whether the token requests show a certificate (RFC 8705). The agent is that of the user, so its options are read as they are. */
function carriesCertificate(transport: OAuth2Options['transport']): boolean {
  const options = member(member(transport, 'httpsAgent'), 'options')
  return ['cert', 'pfx'].some((name) => member(options, name) !== undefined)
}

/** @returns The scope tokens (RFC 6749, section 3.3). */
function checkedScope(scope: unknown = []): readonly string[] {
  if (typeof scope !== 'string' && !Array.isArray(scope)) throw new TypeError('scope must be text, or a list of texts')
  const scopeTokens = (Array.isArray(scope) ? (scope as unknown[]) : scope.split(' ')).filter((one) => one !== '')
  if (scopeTokens.every((one) => typeof one === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(one)))
    return scopeTokens as string[]
  throw new TypeError('scope must be words of visible ASCII characters without " and \\, with spaces between')
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

/** @returns The parameters that the `grant` function returned. @throws {TypeError} that shows no value */
export function checkedGrantParameters(given: unknown): Readonly<Record<string, string>> {
  checkObject('the parameters', given)
  const parameters = Object.assign(Object.create(null) as Record<string, string>, given)
  checkText('grant_type', parameters.grant_type)
  // That would work once: the manager does not have this refresh token, so each renewal would present the same one.
  if (parameters.grant_type === 'refresh_token')
    throw new TypeError("grant_type must not be refresh_token: use grant: 'login' and adopt() of the token manager")
  for (const [name, value] of Object.entries(parameters)) checkText(name, value)
  return parameters
}
