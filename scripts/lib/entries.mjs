import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

const manifest = fileURLToPath(new URL('../../package.json', import.meta.url))
const { exports } = JSON.parse(readFileSync(manifest, 'utf8'))

/** Entries whose source is in `tools`. */
const TOOLS = ['testing']
const sourceOf = (name) =>
  name === 'index' ? 'src/index.ts' : `${TOOLS.includes(name) ? 'tools' : 'src'}/${name}/index.ts`

/** The entries of the package by the names of their built files, with their sources: `exports` of package.json says what there is. */
export const entries = Object.fromEntries(
  Object.values(exports)
    .filter((entry) => entry.import !== undefined) // all but package.json
    .map((entry) => basename(entry.import.default, '.js'))
    .map((name) => [name, sourceOf(name)]),
)
