// npm run test:matrix: the tests that depend on axios, on every Node, with the oldest and the newest axios of the peer range,
// by each of its adapters; all of npm test on every Node; and the packed package beside them, compiled by each TypeScript.
// Shorter: -- --node 20,22 --axios 1.21.0 --adapter http --typescript 7.0
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { markdownTable } from './lib/pages.mjs'
import { axiosOf, DownloadError, lowestOf, nodeOf, typescriptOf } from './matrix/downloads.mjs'
import { compileConsumers, prepareConsumers, runConsumers } from './matrix/packed.mjs'
import { LEFT_OUT, runSuite, runWhole } from './matrix/suite.mjs'

const NODES = ['20', '22', '24', '26']
const ADAPTERS = ['http', 'fetch']
const TYPESCRIPTS = ['5.0', '5.4', '5.9', '6.0', '7.0']
/** Failures of one cell that are printed. */
const SHOWN = 30

const project = fileURLToPath(new URL('..', import.meta.url))
const { peerDependencies, devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'axios-evergreen-matrix-'))

try {
  process.exitCode = main(options())
} catch (error) {
  console.error(error instanceof DownloadError || error instanceof RangeError ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** @returns The exit code. */
function main({ majors, adapters, typescripts, wanted }) {
  // Everything is downloaded before anything runs.
  console.log('Getting Node, axios, TypeScript and the packages of the tests, building and packing …')
  execFileSync(process.execPath, ['scripts/lib/installed.mjs', '--tests'], { cwd: project, stdio: 'inherit' })
  const nodes = majors.map(nodeOf)
  const compilers = typescripts.map((version) => typescriptOf(version, join(folder, `typescript-${version}`)))
  const axioses = [...new Set(wanted ?? [lowestOf(peerDependencies.axios), devDependencies.axios])]
  const tarball = pack()
  const copies = axioses.map((version) => axiosOf(version, tarball, join(folder, `axios-${version}`)))
  copies.forEach((copy) => prepareConsumers(copy.folder))

  const rows = nodes.flatMap((node) => copies.map((axios) => ({ node, axios, cells: cellsOf(node, axios, adapters) })))
  console.log(`\nLeft out:\n${LEFT_OUT.map(([what, why]) => `- ${what}: ${why}`).join('\n')}\n`)
  console.log('Skipped: tests of the other adapter, and those left out under fetch.\n')
  console.log(table(rows, adapters))
  const whole = nodes.map((node) =>
    told(
      `Node ${node.version}, npm test`,
      fresh((report) => runWhole(node, report)),
    ),
  )
  const compiled = compilers.flatMap((compiler) => copies.map((axios) => typesCell(compiler, axios)))
  const cells = [...rows.flatMap((row) => row.cells), ...whole, ...compiled]
  const failed = cells.reduce((sum, cell) => sum + cell.failed, 0)
  console.log(`\n${failed === 0 ? 'all passed' : `${failed} failed`}`)
  return failed === 0 ? 0 : 1
}

function cellsOf(node, axios, adapters) {
  return [...adapters, 'packed'].map((column) => {
    const cell =
      column === 'packed' ? runConsumers(node, axios) : fresh((report) => runSuite(node, axios, column, report))
    return told(`Node ${node.version}, axios ${axios.version}, ${column}`, cell)
  })
}

/** Runs a command that writes a report, without the earlier report. */
function fresh(run) {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  return run(report)
}

function typesCell(compiler, axios) {
  return told(`TypeScript ${compiler.version}, axios ${axios.version}`, compileConsumers(compiler, axios))
}

function told(name, cell) {
  console.log(`${name}: ${textOf(cell)}`)
  for (const failure of cell.failures.slice(0, SHOWN)) console.log(firstLines(failure))
  if (cell.failures.length > SHOWN) console.log(`  … and ${cell.failures.length - SHOWN} more`)
  return cell
}

function textOf({ passed, failed, skipped, seconds }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}, ${seconds} s`
}

/** The first lines of a diff say what is wrong. Printed objects may fill pages. */
function firstLines(text) {
  const lines = text.split('\n').slice(0, 12)
  return lines.map((line, n) => (n === 0 ? '  ✗ ' : '      ') + line.slice(0, 200)).join('\n')
}

function table(rows, adapters) {
  const lines = rows.map(({ node, axios, cells }) => [node.version, axios.version, ...cells.map(textOf)])
  const columns = ['Node', 'axios', ...adapters, 'packed']
  return markdownTable([columns, ...lines])
}

/** Builds and packs. @returns The path of the tarball. */
function pack() {
  const target = join(folder, 'packed')
  mkdirSync(target)
  execFileSync('npm', ['pack', '--silent', '--pack-destination', target], { cwd: project, stdio: 'pipe' })
  return join(target, readdirSync(target)[0])
}

function options() {
  const list = { type: 'string' }
  const { values } = parseArgs({ options: { node: list, axios: list, adapter: list, typescript: list } })
  const majors = values.node?.split(',') ?? NODES
  const adapters = values.adapter?.split(',') ?? ADAPTERS
  const wrong = [...majors.filter((one) => !/^\d+$/.test(one)), ...adapters.filter((one) => !ADAPTERS.includes(one))]
  if (wrong.length > 0) throw new RangeError(`--node takes majors, --adapter takes ${ADAPTERS.join()}: got ${wrong}`)
  return {
    majors,
    adapters,
    typescripts: values.typescript?.split(',') ?? TYPESCRIPTS,
    wanted: values.axios?.split(','),
  }
}
