// npm run release:pack: packs the package as it is published, with links that work on a registry's page. `--to FOLDER` says where to.
// It fails while package.json lacks what only a maintainer can fill in. `--repository URL` stands in for that in npm run check:package.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { repositoryOf, withAbsoluteLinks, withAbsoluteRunbooks } from './links.mjs'

const project = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
const { values } = parseArgs({ options: { to: { type: 'string', default: '.' }, repository: { type: 'string' } } })

const missing = ['repository', 'homepage', 'bugs'].filter((name) => manifest[name] === undefined)
const repository = repositoryOf(manifest) ?? values.repository
if (repository === undefined || (missing.length > 0 && values.repository === undefined)) {
  console.error(`package.json lacks ${missing.join(', ')}: fill in where the project lives, then release.`)
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'axios-evergreen-pack-'))
try {
  npm(project, ['pack', '--pack-destination', folder]) // with the build
  const [plain] = readdirSync(folder)
  execFileSync('tar', ['-xzf', plain], { cwd: folder })
  const unpacked = join(folder, 'package')
  const shipped = readdirSync(unpacked, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(unpacked, posix.join(entry.parentPath, entry.name)))
  for (const name of shipped.filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(unpacked, name), 'utf8')
    const goal = { repository, version: manifest.version, shipped }
    writeFileSync(join(unpacked, name), withAbsoluteLinks({ name, text }, goal))
  }
  const rules = join(unpacked, 'docs', 'operations', 'alerts.yml')
  writeFileSync(rules, withAbsoluteRunbooks(readFileSync(rules, 'utf8'), { repository, version: manifest.version }))
  npm(unpacked, ['pack', '--ignore-scripts', '--pack-destination', resolve(values.to)])
  console.log(join(values.to, plain))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function npm(cwd, args) {
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
}
