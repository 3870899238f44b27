// The table of rooms in CONTRIBUTING.md, made from the arrows of the lint. scripts/show-files.mjs writes it, and test/contributing.test.ts compares.
import { readdirSync } from 'node:fs'
import config from '../../eslint.config.mjs'
import { markdownTable } from './pages.mjs'

const PACKAGES = ['async-mutex', 'p-retry', 'axios', '@opentelemetry/api', 'node:*']
const folders = readdirSync('src', { withFileTypes: true }).filter((one) => one.isDirectory())
const rooms = folders.map(({ name }) => ({ name, files: readdirSync(`src/${name}`) }))

/** @returns {RegExp | undefined} What the files of a room may not import. */
function forbidden(room) {
  const { rules } =
    config.find(({ files, rules }) => files?.join() === `src/${room}/**` && rules?.['no-restricted-imports']) ?? {}
  const [, options] = rules?.['no-restricted-imports'] ?? []
  return options && new RegExp(options.patterns[0].regex)
}

export function roomsTable() {
  const rows = rooms.map(({ name }) => {
    const no = forbidden(name)
    if (!no) throw new Error(`eslint.config.mjs has no arrows for src/${name}`)
    const others = rooms.filter(
      (other) => other.name !== name && other.files.some((file) => !no.test(`../${other.name}/${file}`)),
    )
    const main = no.test('../index.ts') ? [] : ['the main entry']
    const allowed = [...others.map((other) => other.name), ...main, ...PACKAGES.filter((one) => !no.test(one))]
    return [`\`src/${name}\``, allowed.join(', ') || 'nothing']
  })
  return markdownTable([['room', 'may import, beside its own files'], ...rows])
}
