import { expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import ts from 'typescript'

/** A new member, the file and the text behind which it is inserted, and the files that must handle it. */
interface NewMember {
  readonly name: string
  readonly written: string
  readonly behind: string
  readonly file: string
  readonly places: readonly string[]
}

const CODES = ['src/core/errors.ts', 'src/record/failure-of-other.ts', 'tools/doctor/report.ts']

function newMember(file: string, behind: string, written: string, places: readonly string[]): NewMember {
  const [name = ''] = /new_\w+/.exec(written) ?? []
  return { name, written, behind, file: `src/${file}`, places }
}

const NEW_MEMBERS: readonly NewMember[] = [
  newMember('core/errors.ts', 'export type ExchangeOutcome =', " 'new_outcome' |", [
    'src/core/credential-rules.ts',
    'src/login/login-rules.ts',
  ]),
  newMember('core/errors.ts', 'export type TokenErrorCode =', " 'new_code'", CODES),
  newMember('core/errors.ts', 'export type LoginReason =', " 'new_reason'", ['src/login/login-required.ts']),
  newMember('core/events.ts', 'export type AnomalyKind =', " 'new_anomaly'", ['src/core/events.ts']),
  newMember('core/events.ts', 'export interface TokenEvents {', ' new_event: { message: string };', [
    'src/core/events.ts',
    'src/log/log-events.ts',
  ]),
  ...['TokenManagerOptions', 'RenewalOptions'].map((options) =>
    newMember('core/manager-options.ts', `export interface ${options} {`, ` new_of${options}?: number;`, [
      'src/core/manager-options.ts',
    ]),
  ),
  newMember('core/manager-options.ts', 'export interface RetryOptions {', ' new_retry?: number;', [
    'src/core/manager-options.ts',
    'src/core/plan.ts',
    'src/login/revocation.ts',
  ]),
  newMember(
    'client/bearer-options.ts',
    '  origins?: readonly (string | URL)[] | undefined\n',
    ' new_bearer?: number;',
    ['src/client/bearer-options.ts'],
  ),
]

/** @returns The sources with all new members. The files themselves stay unchanged. */
function changedSources(): ReadonlyMap<string, string> {
  const changed = new Map<string, string>()
  for (const { file, behind, written } of NEW_MEMBERS) {
    const text = changed.get(file) ?? readFileSync(file, 'utf8')
    if (text.split(behind).length !== 2) throw new Error(`${file} must hold '${behind}' once`)
    changed.set(file, text.replace(behind, behind + written))
  }
  return changed
}

/** @returns The compiler's errors in the sources: the file, and the message. */
function complaints(sources: ReadonlyMap<string, string>): (readonly [string, string])[] {
  const { config } = ts.readConfigFile('tsconfig.json', (file) => ts.sys.readFile(file)) as { config: object }
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, '.')
  const host = ts.createCompilerHost(options)
  host.readFile = (file) => sources.get(relative('.', file)) ?? ts.sys.readFile(file)
  const roots = ['src/index.ts', 'src/fetch/index.ts', 'tools/doctor/main.ts']
  const program = ts.createProgram(roots, { ...options, skipLibCheck: true }, host)
  return [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()].map(({ file, messageText }) => {
    // The compiler reports no name for a switch that lacks a case.
    const message = ts
      .flattenDiagnosticMessageText(messageText, ' ')
      .replace(/^Function lacks ending return/, 'new_outcome: $&')
    return [relative('.', file?.fileName ?? ''), message]
  })
}

it('given a new outcome, code, reason, anomaly, event or option, when the sources are compiled, then the compiler names all places that must handle it', () => {
  const told = complaints(changedSources())
  const placesOf = (name: string) => [
    ...new Set(told.flatMap(([file, message]) => (message.includes(name) ? file : []))),
  ]
  expect(NEW_MEMBERS.map(({ name }) => [name, placesOf(name).sort()])).toEqual(
    NEW_MEMBERS.map(({ name, places }) => [name, [...places].sort()]),
  )
  expect(told.filter(([, message]) => !message.includes('new_'))).toEqual([])
})
