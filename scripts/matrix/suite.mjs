import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HTTP_ONLY } from './http-only.mjs'

const project = fileURLToPath(new URL('../..', import.meta.url))

/** What the matrix leaves out. It prints this list. */
export const LEFT_OUT = [
  ['tests that reach no axios, and test/properties', 'npm test runs them'],
  [
    'tests that start processes (test/faults/support/child.ts, test/support/bundle.ts)',
    'those use the installed axios',
  ],
  ['test/documents.test.ts', 'it compiles the documents'],
  ['tests in jsdom', 'jsdom has no fetch, which the suite uses as an adapter; npm test runs them'],
  ...HTTP_ONLY.map(([title, why]) => [`under fetch: ${title} …`, why]),
]

const files = readdirSync(join(project, 'test'), { recursive: true })
  // Some folders of tests have packages of their own.
  .filter((name) => !/\bnode_modules\b/.test(name))
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.test.ts') && name !== join('test', 'documents.test.ts') && isOfAxios(name))

/** Runs one cell. @returns `{ passed, failed, skipped, seconds, failures }`, failures as text. */
export function runSuite(node, axios, adapter, reportFile) {
  const args = ['-t', titlesFor(adapter), '--runTestsByPath', ...files]
  const env = { TEST_AXIOS: axios.version, TEST_AXIOS_FILE: axios.file, TEST_ADAPTER: adapter }
  const { report, ...cell } = runJest(node, 'scripts/matrix/jest.config.mjs', args, env, reportFile)
  const stale = report ? staleTitles(report, adapter) : []
  return { ...cell, failed: cell.failed + stale.length, failures: [...cell.failures, ...stale] }
}

/** Runs `npm test` on one Node, with the installed axios. @returns As `runSuite`. */
export const runWhole = (node, reportFile) => runJest(node, 'scripts/tests/fast.config.mjs', [], {}, reportFile)

function runJest(node, config, given, added, reportFile) {
  const startedAt = performance.now()
  const jest = join(project, 'node_modules', 'jest', 'bin', 'jest.js')
  const args = ['--config', join(project, config), '--json', '--outputFile', reportFile, ...given]
  const { status, stderr, error } = spawnSync(node.file, [jest, ...args], {
    cwd: project,
    env: { ...process.env, ...added, FORCE_COLOR: '0' },
    encoding: 'utf8',
    maxBuffer: 1e9,
    timeout: 1_800_000,
  })
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  let report
  try {
    report = JSON.parse(readFileSync(reportFile, 'utf8'))
  } catch {
    const why = [error?.message, stderr?.trim()].filter(Boolean).join('\n')
    return { passed: 0, failed: 1, skipped: 0, seconds, failures: [`jest gave no report: ${why}`] }
  }
  const failures = report.testResults.flatMap(failuresOf)
  // A run must not count as good if it ended badly without a failed test, or ran no test.
  if (failures.length === 0 && (status !== 0 || report.numPassedTests === 0)) failures.push(`jest ended with ${status}`)
  const { numPassedTests: passed, numPendingTests: skipped } = report
  return { passed, failed: failures.length, skipped, seconds, failures, report }
}

/** @returns A pattern of titles: all tests, except those whose title names the other adapter, and under fetch HTTP_ONLY. */
function titlesFor(adapter) {
  const other = adapter === 'http' ? 'fetch' : 'http'
  const special = adapter === 'http' ? [] : HTTP_ONLY.map(([title]) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return `^(?!${[`.*\\b${other} adapter\\b`, ...special].join('|')})`
}

function failuresOf({ name, message, assertionResults }) {
  const path = relative(project, name)
  const failed = assertionResults.filter(({ status }) => status === 'failed')
  if (failed.length === 0) return message ? [`${path}\n${message}`] : []
  return failed.map(({ fullName, failureMessages }) => `${path}: ${fullName}\n${failureMessages[0] ?? ''}`)
}

/** Reports entries of HTTP_ONLY that fit no test: such an entry could silently leave out a later test. */
function staleTitles({ testResults }, adapter) {
  if (adapter === 'http') return []
  const titles = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ fullName }) => fullName))
  const stale = HTTP_ONLY.filter(([start]) => !titles.some((title) => title.startsWith(start)))
  return stale.map(([start]) => `scripts/matrix/http-only.mjs: no test is called '${start}'`)
}

function isOfAxios(name) {
  if (/^test.properties\b/.test(name) || isInJsdom(name)) return false
  const imports = [...importsOf(name)]
  if (imports.some((one) => /\bsupport.(child|bundle)\.ts$/.test(one))) return false
  return imports.includes('axios') || /^test.(axios|service)\b/.test(name)
}

function isInJsdom(name) {
  return readFileSync(join(project, name), 'utf8').startsWith('/** @jest-environment ')
}

/** All that a test imports, itself or through helpers of the tests, types aside. */
function importsOf(name, found = new Set()) {
  const imports = readFileSync(join(project, name), 'utf8').matchAll(/^import (?!type )[^'"]*?from '([^']+)'$/gm)
  for (const [, from] of imports) {
    const path = from.startsWith('.') ? join(dirname(name), from) : from
    if (found.has(path)) continue
    found.add(path)
    if (/^test\b/.test(path)) importsOf(path, found)
  }
  return found
}
