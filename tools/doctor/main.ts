#!/usr/bin/env node
import { createRequire } from 'node:module'
import { doctorOptions, USAGE } from './doctor-options.ts'
import { Misuse } from './misuse.ts'
import { examine } from './examination.ts'
import type { Findings } from './findings.ts'
import { EXIT, exitCodeOf, report } from './report.ts'
import { checkStore, storeIn } from './store-check.ts'
import { printToken, TOKEN_USAGE } from './token-command.ts'

// Some releases of Node warn about node:sqlite, which the user of this program did not choose.
const warn = process.emitWarning.bind(process) as (...given: unknown[]) => void
process.emitWarning = (...given: unknown[]) => {
  if (!String(given[0]).startsWith('SQLite is an experimental feature')) warn(...given)
}

const [command, ...others] = process.argv.slice(2)

/** `npx axios-evergreen doctor`: what is the token service, and does it work? `token`: an access token of a stored login. */
async function main(): Promise<number> {
  if (command === 'token') return printToken(others, process.env)
  const options = doctorOptions(process.argv.slice(2), process.env)
  if (options === 'help' || options === 'version') {
    process.stdout.write(options === 'help' ? USAGE : `${version()}\n`)
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
  process.stdout.write(printable(text))
  return exitCode
}

function version(): string {
  // Relative to the built program.
  return (createRequire(import.meta.url)('../package.json') as { version: string }).version
}

/** Removes control characters and directional marks: some terminals obey them, and a service may send them. */
function printable(text: string): string {
  return text.replace(/(?!\n)\p{Cc}|[\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '\ufffd')
}

/** Replaces the option names of the API by those of the command line. */
function asOptions(message: string): string {
  return message
    .replace('baseUrl', '--base-url')
    .replace('tokenEndpoint', '--token-endpoint')
    .replace('set allowInsecureHttp', 'give --allow-insecure-http')
}

try {
  process.exitCode = await main()
} catch (error) {
  // The messages of option checks name the option, never a secret.
  const isMisuse = error instanceof Misuse || error instanceof TypeError || error instanceof RangeError
  process.stderr.write(
    isMisuse
      ? `${asOptions(error.message)}.\n\n${command === 'token' ? TOKEN_USAGE : USAGE}`
      : `axios-evergreen failed: ${(error as Error).name}\n`,
  )
  process.exitCode = isMisuse ? EXIT.usage : EXIT.broken
}
// After all output is written, because clients of a user's module may keep the process alive.
process.stdout.write('', () => process.exit())
