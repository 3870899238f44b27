#!/usr/bin/env node
import { createRequire } from 'node:module'
import { doctorOptions, OPTIONS, USAGE } from './doctor-options.ts'
import { Misuse } from './misuse.ts'
import { examine } from './examination.ts'
import type { Findings } from './findings.ts'
import { EXIT, exitCodeOf, report } from './report.ts'
import { asTyped } from './shell-names.ts'
import { checkStore, storeIn } from './store-check.ts'
import { printToken, TOKEN_OPTIONS } from './token-command.ts'

// Some releases of Node warn about node:sqlite, which the user of this program did not choose.
const warn = process.emitWarning.bind(process) as (...given: unknown[]) => void
process.emitWarning = (...given: unknown[]) => {
  if (!String(given[0]).startsWith('SQLite is an experimental feature')) warn(...given)
}

// A user's module may log to stdout, from which scripts read the token or the JSON. Its lines go to stderr.
const print: (text: string, done?: () => void) => boolean = process.stdout.write.bind(process.stdout)
process.stdout.write = process.stderr.write.bind(process.stderr)

const [command, ...others] = process.argv.slice(2)

/** `npx axios-evergreen doctor` examines a token service. `npx axios-evergreen token` prints an access token of a stored login. */
async function main(): Promise<number> {
  if (command === 'token') return printToken(others, process.env, print)
  const options = doctorOptions(process.argv.slice(2), process.env)
  if (options === 'help' || options === 'version') {
    print(options === 'help' ? USAGE : `${version()}\n`)
    return EXIT.well
  }
  const { service } = options
  // A wrong --store is found before any request is sent.
  const store = options.store === undefined ? undefined : await storeIn(options.store)
  const findings: Findings = service
    ? await examine({ ...options, service })
    : { throttling: {}, oddities: [], problems: [] }
  if (store) await checkStore(store, findings)
  const exitCode = exitCodeOf(findings)
  const text = options.json ? `${JSON.stringify({ exitCode, ...findings }, undefined, 2)}\n` : report(findings)
  print(printable(text))
  return exitCode
}

function version(): string {
  // Relative to the built program.
  return (createRequire(import.meta.url)('../package.json') as { version: string }).version
}

/** Replaces control characters and directional marks. A service may send them, and some terminals obey them. */
function printable(text: string): string {
  return text.replace(/(?!\n)\p{Cc}|[\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '\ufffd')
}

/** One sentence on a wrong call, and where the options are. A usage of 30 lines would push the sentence off the screen. */
function corrected(message: string): string {
  const end = /[.?]$/.test(message) ? '' : '.'
  return `${message}${end}\nFor the options, run: npx axios-evergreen ${command === 'token' ? 'token' : 'doctor'} --help\n`
}

/** @returns What is wrong with the call; undefined if the program itself failed. The option checks of the library show no secret. */
function misuseIn(error: unknown): string | undefined {
  if (error instanceof Misuse) return error.message
  const isOptionCheck = error instanceof TypeError || error instanceof RangeError
  return isOptionCheck ? asTyped(error.message, command === 'token' ? TOKEN_OPTIONS : OPTIONS) : undefined
}

try {
  process.exitCode = await main()
} catch (error) {
  const misuse = misuseIn(error)
  process.stderr.write(misuse === undefined ? `axios-evergreen failed: ${(error as Error).name}\n` : corrected(misuse))
  process.exitCode = misuse === undefined ? EXIT.broken : EXIT.usage
}
// Only after all output is written. Without it, clients of a user's module may keep the process alive.
print('', () => process.exit())
