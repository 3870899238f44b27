import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Client, Login } from '../index.ts'
import type { Order } from './examination.ts'

export const USAGE = `npx axios-evergreen doctor --base-url URL [--api URL] [--json] [--allow-insecure-http]

Makes one obtain, and one refresh if there is a refresh token, and reports what the token service is. With --api it
sends one GET with the token. Credentials come from the environment: EVERGREEN_CLIENT_ID and EVERGREEN_CLIENT_SECRET
(Variant A), or EVERGREEN_LOGIN and EVERGREEN_PASSWORD (Variant B).

  --base-url URL          the address of the token service, without /token/
  --api URL               an address of the API that answers GET, and needs a token
  --json                  prints the findings as JSON
  --allow-insecure-http   sends credentials and the token over plain http to other machines
  -h, --help              prints this
  -v, --version           prints the version of axios-evergreen

Exit codes: 0 all is well, 1 the doctor failed, 2 it was called wrongly. Of the token service: 3 not reached, or 5xx;
4 credentials refused; 5 throttled; 6 something else answers; 7 signature wrong; 8 refresh refused. Of the API: 9 it
refuses the token; 10 its answer does not show that. 11: the clocks differ by more than a minute.
`

export interface DoctorOptions extends Order {
  readonly json: boolean
}

/** The doctor was called wrongly. The message quotes no value of an argument: the value may be a secret. */
export class Misuse extends Error {}

export const OPTIONS = {
  'base-url': { type: 'string' },
  api: { type: 'string' },
  json: { type: 'boolean' },
  'allow-insecure-http': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

/** @returns The options, or what the user asks for in their place: `help` if there is no argument. @throws {Misuse} */
export function doctorOptions(args: readonly string[], env: NodeJS.ProcessEnv): DoctorOptions | 'help' | 'version' {
  const { given, commands } = givenArguments(args, OPTIONS)
  if (given.has('help') || args.length === 0) return 'help'
  if (given.has('version')) return 'version'
  if (commands[0] !== 'doctor') throw new Misuse('The commands are doctor and token')
  if (commands.length > 1)
    throw new Misuse('There is an argument without an option. It is not shown: it may be a secret')
  const baseUrl = given.get('base-url')
  const api = given.get('api')
  if (typeof baseUrl !== 'string')
    throw new Misuse('--base-url must be given: the address of the token service, without /token/')
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl))
    throw new Misuse(
      '--base-url must be an absolute http or https URL, such as https://payments.example.com/api. What was given is not shown: it may be a secret',
    )
  if (api === true) throw new Misuse('--api must be given an address of the API')
  return {
    baseUrl,
    api,
    json: given.has('json'),
    allowInsecureHttp: given.has('allow-insecure-http'),
    account: accountIn(env),
  }
}

type Known = NonNullable<ParseArgsConfig['options']>

/** @returns The options, and what stands beside them. @throws {Misuse} */
export function givenArguments(args: readonly string[], options: Known) {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const given = new Map<string, string | true>()
  const commands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') commands.push(token.value)
    if (token.kind !== 'option') continue
    checkOption(token.name, token.rawName, options)
    // --allow-insecure-http=false must not allow it.
    const isFlag = options[token.name]?.type === 'boolean'
    if (isFlag && token.value !== undefined) throw new Misuse(`${token.rawName} takes no value`)
    given.set(token.name, token.value ?? true)
  }
  return { given, commands }
}

function checkOption(name: string, rawName: string, options: Known): void {
  if (Object.hasOwn(options, name)) return
  if (/id$|secret|login|pass|user|token|key|credential|auth|^[up]$/i.test(name))
    throw new Misuse(
      'Do not pass credentials as arguments: every user of this machine can read arguments, and shells keep them. Set them in the environment',
    )
  throw new Misuse(
    /^-[a-z]$|^--[a-z-]{1,30}$/.test(rawName) ? `There is no option ${rawName}` : 'There is no such option',
  )
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
