// The table of rooms in CONTRIBUTING.md, made from the import rules of the lint. scripts/show-files.mjs writes it, and test/contributing.test.ts compares.
import { readdirSync } from 'node:fs'
import config from '../../eslint.config.mjs'
import { markdownTable } from './pages.mjs'

const PACKAGES = ['async-mutex', 'p-retry', 'axios', '@opentelemetry/api', 'node:*']
const rooms = ['src', 'tools'].flatMap((house) =>
  readdirSync(house, { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map(({ name }) => ({ house, name, files: readdirSync(`${house}/${name}`) })),
)

/** @returns {RegExp | undefined} What the files of a room may not import. */
function forbidden({ house, name }) {
  const { rules } =
    config.find(({ files, rules }) => files?.join() === `${house}/${name}/**` && rules?.['no-restricted-imports']) ?? {}
  const [, options] = rules?.['no-restricted-imports'] ?? []
  return options && new RegExp(options.patterns[0].regex)
}

export function roomsTable() {
  const rows = rooms.map((room) => {
    const { house, name } = room
    const no = forbidden(room)
    if (!no) throw new Error(`eslint.config.mjs has no import rules for ${house}/${name}`)
    const to = (other) => (other.house === house ? '..' : `../../${other.house}`)
    const others = rooms.filter(
      (other) => other !== room && other.files.some((file) => !no.test(`${to(other)}/${other.name}/${file}`)),
    )
    const main = no.test(`${to({ house: 'src' })}/index.ts`) ? [] : ['the main entry']
    const allowed = [...others.map((other) => other.name), ...main, ...PACKAGES.filter((one) => !no.test(one))]
    return [`\`${house}/${name}\``, allowed.join(', ') || 'nothing']
  })
  return markdownTable([['folder', 'may import, besides its own files'], ...rows])
}
