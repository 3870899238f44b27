import { existsSync } from 'node:fs'
import { createTokenManager, isTokenError, type TokenManager } from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { givenArguments } from './doctor-options.ts'
import { Misuse } from './misuse.ts'
import { EXIT, EXIT_OF } from './report.ts'
import { storeOfFile } from './sqlite-file.ts'
import { exportsOf } from './user-module.ts'

export const TOKEN_USAGE = `npx axios-evergreen token --file FILE --issuer URL --client-id ID [--account NAME] [--header]
npx axios-evergreen token --config FILE [--header]

Prints a fresh access token of a stored login, and nothing else. Refreshes it if necessary; processes that
share the file refresh it once. A client secret comes from the environment: EVERGREEN_CLIENT_SECRET.

  --file FILE             the file of sqliteStore()
  --issuer URL            as in oauth2(); or --token-endpoint URL
  --client-id ID          as in oauth2()
  --account NAME          as in oauth2(); default: the client id
  --scope SCOPE           as in oauth2()
  --config FILE           a module that exports a token manager, or a login of mcpLogin(), as default or as tokens
  --header                prints Authorization: Bearer and the token
  --allow-insecure-http   sends token requests over plain http to other machines, too
  -h, --help              prints this text

Exit codes: 0 the token was printed, 12 the user must log in; for all others, see npx axios-evergreen doctor --help.
`

export const TOKEN_OPTIONS = {
  file: { type: 'string' },
  issuer: { type: 'string' },
  'token-endpoint': { type: 'string' },
  'client-id': { type: 'string' },
  account: { type: 'string' },
  scope: { type: 'string' },
  config: { type: 'string' },
  header: { type: 'boolean' },
  'allow-insecure-http': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/**
 * `npx axios-evergreen token`: for curl, git, and programs in other languages.
 *
 * @param print Writes to stdout.
 * @returns The exit code.
 * @throws {Misuse | TypeError}
 */
export async function printToken(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<number> {
  const { given, commands } = givenArguments(args, TOKEN_OPTIONS)
  if (given.has('help')) {
    print(TOKEN_USAGE)
    return EXIT.well
  }
  if (commands.length > 0)
    throw new Misuse('There is an argument without an option. It is not shown: it may be a secret')
  const tokens = given.has('config') ? await configured(given.get('config')) : opened(given, env)
  // Without a listener, the manager would emit its anomalies as warnings. The program that keeps the login reports them.
  if ('onAny' in tokens) tokens.onAny(() => undefined)
  const file = given.get('file')
  try {
    // The store would create the file, and a mistyped name would look like a missing login.
    if (typeof file === 'string' && !existsSync(file)) {
      process.stderr.write(`There is no file ${file}: log in with the program that keeps its login there\n`)
      return EXIT.loginRequired
    }
    const token = await tokens.getAccessToken()
    print(`${given.has('header') ? 'Authorization: Bearer ' : ''}${token}\n`)
    return EXIT.well
  } catch (error) {
    if (!isTokenError(error)) throw error
    process.stderr.write(`${error.message.replace('call adopt() with its tokens', logInWith(given))}\n`)
    return error.code === 'ERR_LOGIN_REQUIRED' ? EXIT.loginRequired : EXIT_OF[error.code]
  } finally {
    await tokens.close()
  }
}

type Given = ReturnType<typeof givenArguments>['given']

/** Advice for a user at a shell, who has no manager. */
function logInWith(given: Given): string {
  const file = given.get('file')
  if (file === undefined) return 'log in with the program that keeps this login'
  const account = String(given.get('account') ?? given.get('client-id'))
  return `log in with the program that keeps its login in ${String(file)} as account '${account}' (another one: --account)`
}

function opened(given: Given, env: NodeJS.ProcessEnv): TokenManager {
  const text = (name: keyof typeof TOKEN_OPTIONS) => {
    const value = given.get(name)
    if (value === true) throw new Misuse(`--${name} must be given a value`)
    return value
  }
  const [file, clientId] = [text('file'), text('client-id')]
  const [issuer, tokenEndpoint] = [text('issuer'), text('token-endpoint')]
  if (file === undefined || clientId === undefined || (issuer ?? tokenEndpoint) === undefined)
    throw new Misuse('Give --file, --issuer (or --token-endpoint) and --client-id; or give --config')
  const source = oauth2({
    ...{ issuer, tokenEndpoint },
    clientId,
    ...(env.EVERGREEN_CLIENT_SECRET && { clientSecret: env.EVERGREEN_CLIENT_SECRET }),
    grant: 'login',
    account: text('account') ?? clientId,
    scope: text('scope'),
    allowInsecureHttp: given.has('allow-insecure-http'),
  })
  const store = storeOfFile('--file', file, ', or pass a module that exports the manager to --config')
  return createTokenManager({ source, store })
}

async function configured(file: string | true | undefined): Promise<TokenManager> {
  const exported = await exportsOf('--config', file)
  const candidates = [exported.default, exported.tokens].flatMap((one) => [
    one,
    (one as { tokens?: unknown } | undefined)?.tokens,
  ])
  const found = candidates.find(
    (one) => typeof (one as Partial<TokenManager> | undefined)?.getAccessToken === 'function',
  )
  if (!found)
    throw new Misuse('--config must export a token manager, or a login of mcpLogin(), as default or as tokens')
  return found as TokenManager
}
