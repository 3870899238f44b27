// npm run test:engines: the suites that run in each engine, in Chromium, Firefox and WebKit as far as this machine has them. To write the table of
// docs/works-with.md: -- --write.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { engines, NAMES } from '../test/browser/support/engines.mjs'
import { writeRows } from './lib/pages.mjs'

const project = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } })

const report = reportOf(suites())
const rows = []
for (const [name, launch] of Object.entries(engines())) {
  const tests = report.filter(({ ancestorTitles }) => ancestorTitles.join(' ').includes(`given ${name},`))
  const passed = tests.filter(({ status }) => status === 'passed').length
  rows.push([NAMES[name], await versionOf(launch), `${passed} of ${tests.length}`])
  console.log(`${rows.at(-1).join(' ')} passed`)
}
const failed = report.filter(({ status }) => status !== 'passed')
for (const { fullName } of failed) console.log(`FAILED  ${fullName}`)
const isGood = failed.length === 0 && report.length > 0
if (isGood && values.write) await writeRows('docs/works-with.md', 'npm run test:engines', rows)
process.exitCode = isGood ? 0 : 1

function suites() {
  const folder = join(project, 'test', 'browser')
  return readdirSync(folder)
    .filter(
      (name) =>
        name.endsWith('.test.ts') && /describe(Engines|Pages|PagesAt)\(/.test(readFileSync(join(folder, name), 'utf8')),
    )
    .map((name) => join(folder, name))
}

/** @returns The results of jest, of the tests that run in engines. */
function reportOf(files) {
  const folder = mkdtempSync(join(tmpdir(), 'engines-'))
  const outputFile = join(folder, 'report.json')
  const jest = join(project, 'node_modules', 'jest', 'bin', 'jest.js')
  const config = join(project, 'scripts', 'tests', 'browser.config.mjs')
  // Unless ENGINES names some.
  const env = { ENGINES: Object.keys(NAMES).join(), ...process.env }
  const args = [
    jest,
    '--config',
    config,
    '--json',
    `--outputFile=${outputFile}`,
    '--testNamePattern',
    'given \\w+,',
    ...files,
  ]
  spawnSync(process.execPath, args, { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const { testResults } = JSON.parse(readFileSync(outputFile, 'utf8'))
  rmSync(folder, { recursive: true })
  return testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status !== 'pending')
}

async function versionOf(launch) {
  const engine = await launch()
  await engine.close()
  return engine.version
}
