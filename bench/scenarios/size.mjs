import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { EVERGREEN, renewing, shownName } from '../lib/contestants.mjs'
import { figure, reach, table } from '../lib/table.mjs'

export const name = 'size'
export const title = 'Size: what it adds to a bundle'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 2

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BENCH = fileURLToPath(new URL('../', import.meta.url))
const DEPENDENCIES = ['async-mutex', 'p-retry']
/** The required sizes, KiB, by their name in `.size-limit.json`. That file has the limits that every change must keep. */
const MOST_KIB = { 'Variant A': 27, 'a single-page application': 33 }

export async function run() {
  const ours = {}
  const rows = JSON.parse(readFileSync(`${ROOT}.size-limit.json`, 'utf8'))
  for (const row of rows) ours[row.name] = await sizeOf(moduleOf(row))
  const ownCode = await sizeOf(moduleOf(rows[0]), DEPENDENCIES)
  const others = {}
  for (const each of packages()) others[each] = await sizeOf(`export * from '${each}'`)
  return { ours, ownCode, others }
}

/** The other contestants that can be installed. */
function packages() {
  const { dependencies } = JSON.parse(readFileSync(`${BENCH}package.json`, 'utf8'))
  return renewing.map((each) => each.name).filter((each) => each in dependencies)
}

/** Exports what a row of `.size-limit.json` names. */
function moduleOf({ path, import: names = '*' }) {
  const ofFiles = typeof names === 'string' ? { [path]: names } : names
  return Object.entries(ofFiles)
    .map(([file, what]) => `export ${what} from ${JSON.stringify(ROOT + file)}`)
    .join('\n')
}

/** Size of a module with all that it imports, except axios and Node's own modules. */
async function sizeOf(module, others = []) {
  const { outputFiles } = await build({
    stdin: { contents: module, resolveDir: BENCH },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    external: ['axios', ...others],
    write: false,
    logLevel: 'error',
  })
  const [{ contents }] = outputFiles
  return { minified: contents.length, gzipped: gzipSync(contents, { level: 9 }).length }
}

export function ratios({ ours }) {
  const held = ([what, { gzipped }]) => [`gzipped bytes, ${what}`, { value: gzipped, tolerance: 1.01 }]
  return Object.fromEntries(Object.entries(ours).map(held))
}

export function section({ ours, ownCode, others }) {
  const kib = (bytes) => figure(bytes / 1_024, 1)
  const row = (what, { minified, gzipped }) => [what, kib(minified), kib(gzipped)]
  const rows = [
    ...Object.entries(ours).map(([what, sizes]) => row(`${shownName(EVERGREEN)}: ${what}`, sizes)),
    row(`${shownName(EVERGREEN)}: everything, without its two dependencies`, ownCode),
    ...Object.entries(others).map(([each, sizes]) => row(each, sizes)),
  ]
  const lines = Object.entries(MOST_KIB).map(([what, limit]) => {
    const gzipped = ours[what].gzipped / 1_024
    return reach(gzipped <= limit, `at most ${limit} KiB for ${what}, gzipped: ${gzipped.toFixed(1)} KiB.`)
  })
  return `Bundled and minified by esbuild, with all dependencies but axios. Variant A is \`attachBearer\`, \`createTokenManager\` and \`clientCredentials\`. The others
are bundled whole. The last three include a transport of their own, and ways to log in that no other package here has. \`npm run check:size\` holds the
sizes of axios-evergreen at every change: its limits are in \`.size-limit.json\`.

${table(['package', '>minified, KiB', '>and gzipped, KiB'], rows)}

${lines.join('\n\n')}

Most of it is own code: the renewal, the answers of the service, and the checks of options and answers, each with a message that says what
to do.`
}
