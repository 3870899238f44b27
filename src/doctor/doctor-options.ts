import { parseArgs } from 'node:util'
import type { Client, Login } from '../index.ts'
import type { Order } from './examination.ts'

export const USAGE = `npx axios-evergreen doctor --base-url URL [--api URL] [--json] [--allow-insecure-http]

Makes one obtain and one refresh, and reports what the token service is. With --api it sends one GET with the token.
Credentials come from the environment: EVERGREEN_CLIENT_ID and EVERGREEN_CLIENT_SECRET (Variant A), or
EVERGREEN_LOGIN and EVERGREEN_PASSWORD (Variant B).
`

export interface DoctorOptions extends Order {
  readonly json: boolean
}

/** The doctor was called wrongly. The message quotes no value of an argument: the value may be a secret. */
export class Misuse extends Error {}

const OPTIONS = {
  'base-url': { type: 'string' },
  api: { type: 'string' },
  json: { type: 'boolean' },
  'allow-insecure-http': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** @returns The options, or `help` if the user asks for help or gives no argument. @throws {Misuse} */
export function doctorOptions(args: readonly string[], env: NodeJS.ProcessEnv): DoctorOptions | 'help' {
  const { tokens } = parseArgs({ args: [...args], options: OPTIONS, strict: false, tokens: true })
  const given = new Map<string, string | true>()
  const commands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') commands.push(token.value)
    if (token.kind !== 'option') continue
    checkOption(token.name, token.rawName)
    // --allow-insecure-http=false must not allow it.
    const { type } = OPTIONS[token.name as keyof typeof OPTIONS]
    if (type === 'boolean' && token.value !== undefined) throw new Misuse(`${token.rawName} takes no value`)
    given.set(token.name, token.value ?? true)
  }
  if (given.has('help') || args.length === 0) return 'help'
  if (commands[0] !== 'doctor') throw new Misuse('The only command is doctor')
  if (commands.length > 1)
    throw new Misuse('There is an argument without an option. It is not shown: it may be a secret')
  const baseUrl = given.get('base-url')
  const api = given.get('api')
  if (typeof baseUrl !== 'string')
    throw new Misuse('--base-url must be given: the address of the token service, without /token/')
  if (api === true) throw new Misuse('--api must be given an address of the API')
  return {
    baseUrl,
    api,
    json: given.has('json'),
    allowInsecureHttp: given.has('allow-insecure-http'),
    account: accountIn(env),
  }
}

function checkOption(name: string, rawName: string): void {
  if (Object.hasOwn(OPTIONS, name)) return
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
