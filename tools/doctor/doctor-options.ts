import { parseArgs, type ParseArgsConfig } from 'node:util'
import { nearest } from '../../src/core/option-checks.ts'
import type { Client, Login } from '../../src/index.ts'
import type { Order, PaymentService } from './examination.ts'
import { Misuse } from './misuse.ts'
import type { OAuthServer } from './oauth-server.ts'

export const USAGE = `npx axios-evergreen doctor --base-url URL | --issuer URL | --token-endpoint URL | --store FILE [options]

Obtains a token, refreshes it once if the response has a refresh token, and reports how the token service responds.
With --api it sends one GET with the token. Credentials come from the environment: EVERGREEN_CLIENT_ID and
EVERGREEN_CLIENT_SECRET (OAuth 2.0, Variant A), or EVERGREEN_LOGIN and EVERGREEN_PASSWORD (Variant B).

  --base-url URL          the baseUrl of the payment service, without /token/
  --issuer URL            an OAuth 2.0 server, whose metadata lists its endpoints
  --token-endpoint URL    the token endpoint of an OAuth 2.0 server
  --scope SCOPE           as in oauth2()
  --parameter NAME=VALUE  as in parameters of oauth2(), such as audience=…; may be repeated
  --grant login           uses a stored login instead of client credentials
  --file FILE             the file of sqliteStore() with that login
  --account NAME          the account of that login, as in oauth2(); default: the client id
  --api URL               a URL of the API that responds to GET and requires a token
  --store FILE            checks a token store: a module (.js, .mjs, .cjs, .ts, .mts or .cts) that exports a store as
                          default or store, such as redisStore() or postgresStore(); any other file is one of
                          sqliteStore(). Works with or without a service
  --json                  prints the findings as JSON
  --allow-insecure-http   sends credentials and the token over plain http to other machines, too
  -h, --help              prints this text
  -v, --version           prints the version of axios-evergreen

Exit codes:
   0  all is well
   1  the doctor itself failed
   2  an argument or an environment variable is missing or wrong
   3  the token service is unreachable or responded with 5xx, or the token store cannot be used
   4  the service rejected the credentials
   5  the service throttles this account
   6  the response is not from the expected service, or the server rejects the scope or the grant
   7  the signature of the response is missing or wrong
   8  the service rejected the refresh
   9  the API rejects the token
  10  the response of the API does not show whether the API accepts the token
  11  the clocks of this machine and of the service differ by more than a minute
  12  the user must log in
`

export interface DoctorOptions extends Omit<Order, 'service'> {
  readonly service: Order['service'] | undefined
  readonly store: string | undefined
  readonly json: boolean
}

export const OPTIONS = {
  'base-url': { type: 'string' },
  issuer: { type: 'string' },
  'token-endpoint': { type: 'string' },
  scope: { type: 'string' },
  parameter: { type: 'string' },
  grant: { type: 'string' },
  file: { type: 'string' },
  account: { type: 'string' },
  api: { type: 'string' },
  store: { type: 'string' },
  json: { type: 'boolean' },
  'allow-insecure-http': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

/** @returns The options; or `help` or `version` if the user requests that. No argument at all is a request for help. @throws {Misuse} */
export function doctorOptions(args: readonly string[], env: NodeJS.ProcessEnv): DoctorOptions | 'help' | 'version' {
  const { given, commands, parameters } = givenArguments(args, OPTIONS)
  if (given.has('help') || args.length === 0) return 'help'
  if (given.has('version')) return 'version'
  if (commands[0] !== 'doctor') throw new Misuse('The commands are doctor and token')
  if (commands.length > 1)
    throw new Misuse('There is an argument without an option. It is not shown: it may be a secret')
  for (const [name, { type }] of Object.entries(OPTIONS))
    if (type === 'string' && given.get(name) === true) throw new Misuse(`--${name} must be given a value`)
  const named = ADDRESSES.filter((name) => given.has(name))
  const hasService = named.length > 0
  if (!hasService && !given.has('store'))
    throw new Misuse('--base-url must be given, or --issuer, --token-endpoint or --store')
  if (!hasService && given.has('api'))
    throw new Misuse('--api needs a service: pass --base-url, --issuer or --token-endpoint, too')
  for (const name of named) checkAddress(name, String(given.get(name)))
  return {
    service: hasService ? serviceIn(given, parameters, env) : undefined,
    store: given.get('store') as string | undefined,
    api: given.get('api') as string | undefined,
    json: given.has('json'),
    allowInsecureHttp: given.has('allow-insecure-http'),
  }
}

const ADDRESSES = ['base-url', 'issuer', 'token-endpoint'] as const

function checkAddress(name: string, address: string): void {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
    throw new Misuse(
      `--${name} must be an absolute http or https URL, such as https://payments.example.com/api. The value is not shown: it may be a secret`,
    )
}

type Given = ReadonlyMap<string, string | true>

function serviceIn(given: Given, parameters: readonly string[], env: NodeJS.ProcessEnv): Order['service'] {
  return given.has('base-url') ? paymentService(given, env) : oauthServer(given, parameters, env)
}

function paymentService(given: Given, env: NodeJS.ProcessEnv): PaymentService {
  const other = Object.keys(OPTIONS).find((name) => OF_OAUTH.includes(name) && given.has(name))
  if (other !== undefined) throw new Misuse(`--${other} is for OAuth 2.0: it does not go with --base-url`)
  return { baseUrl: String(given.get('base-url')), account: accountIn(env) }
}

const OF_OAUTH = ['issuer', 'token-endpoint', 'scope', 'parameter', 'grant', 'file', 'account']

function oauthServer(given: Given, parameters: readonly string[], env: NodeJS.ProcessEnv): OAuthServer {
  const text = (name: keyof typeof OPTIONS) => given.get(name) as string | undefined
  const isLogin = text('grant') === 'login'
  if (given.has('grant') && !isLogin)
    throw new Misuse('--grant must be login. Without it, the doctor uses client credentials')
  if (isLogin !== given.has('file')) throw new Misuse('--grant login and --file go together: the file of sqliteStore()')
  const { EVERGREEN_CLIENT_ID: clientId = '', EVERGREEN_CLIENT_SECRET: clientSecret = '' } = env
  // A client that has only its credentials is not public.
  const secret = isLogin ? ', and EVERGREEN_CLIENT_SECRET unless the client is public' : ' and EVERGREEN_CLIENT_SECRET'
  if (clientId === '') throw new Misuse(`Set EVERGREEN_CLIENT_ID${secret}`)
  if (clientSecret === '' && !isLogin) throw new Misuse('EVERGREEN_CLIENT_SECRET must be set, too')
  return {
    ...{ issuer: text('issuer'), tokenEndpoint: text('token-endpoint'), scope: text('scope') },
    ...{ clientId, clientSecret: clientSecret === '' ? undefined : clientSecret },
    parameters: Object.fromEntries(parameters.map(parameterIn)),
    ...{ file: text('file'), storedAs: text('account') },
  }
}

function parameterIn(text: string): [name: string, value: string] {
  const [, name, value] = /^([\w.-]+)=(.+)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new Misuse('--parameter must be given as NAME=VALUE')
  if (/secret|pass|assertion|token$/i.test(name)) throw new Misuse(NO_SECRETS)
  return [name, value]
}

type Known = NonNullable<ParseArgsConfig['options']>

/** @returns The options by name, the arguments that are no options, and the values of all `--parameter`. @throws {Misuse} */
export function givenArguments(args: readonly string[], options: Known) {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const given = new Map<string, string | true>()
  const commands: string[] = []
  const parameters: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') commands.push(token.value)
    if (token.kind !== 'option') continue
    checkOption(token.name, token.rawName, options)
    // --allow-insecure-http=false must not allow it.
    const isFlag = options[token.name]?.type === 'boolean'
    if (isFlag && token.value !== undefined) throw new Misuse(`${token.rawName} takes no value`)
    given.set(token.name, token.value ?? true)
    if (token.name === 'parameter') parameters.push(token.value ?? '')
  }
  return { given, commands, parameters }
}

const NO_SECRETS =
  'Do not pass credentials as arguments: all users of this machine can read arguments, and shells keep them in their history. Set them in the environment'

function checkOption(name: string, rawName: string, options: Known): void {
  if (Object.hasOwn(options, name)) return
  const meant = nearest(name, Object.keys(options))
  // A misspelled --token-endpoint looks like an option for a secret, too.
  if (looksSecret(name) && !(meant !== undefined && looksSecret(meant))) throw new Misuse(NO_SECRETS)
  const unknown = /^-[a-z]$|^--[a-z-]{1,30}$/.test(rawName) ? `option ${rawName}` : 'such option'
  throw new Misuse(`There is no ${unknown}${meant === undefined ? '' : `: did you mean --${meant}?`}`)
}

function looksSecret(name: string): boolean {
  return /id$|secret|login|pass|user|token|key|credential|auth|^[up]$/i.test(name)
}

function accountIn(env: NodeJS.ProcessEnv): Client | Login {
  const read = (first: string, second: string) => {
    const [one = '', other = ''] = [env[first], env[second]]
    const missing = [one === '' && first, other === '' && second].filter((name) => name !== false)
    return { one, other, missing }
  }
  const client = read('EVERGREEN_CLIENT_ID', 'EVERGREEN_CLIENT_SECRET')
  const login = read('EVERGREEN_LOGIN', 'EVERGREEN_PASSWORD')
  const begun = [client, login].filter(({ missing }) => missing.length < 2)
  if (begun.length > 1)
    throw new Misuse(
      'Set either EVERGREEN_CLIENT_ID and EVERGREEN_CLIENT_SECRET, or EVERGREEN_LOGIN and EVERGREEN_PASSWORD, not both',
    )
  const [account] = begun
  if (!account)
    throw new Misuse(
      'Set EVERGREEN_CLIENT_ID and EVERGREEN_CLIENT_SECRET (Variant A), or EVERGREEN_LOGIN and EVERGREEN_PASSWORD (Variant B)',
    )
  if (account.missing.length > 0) throw new Misuse(`${account.missing.join()} must be set, too`)
  const { one, other } = account
  return account === client ? { clientId: one, clientSecret: other } : { login: one, password: other }
}
