import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundled, bundledModule } from '../../scripts/lib/size.mjs'
import { EVERGREEN, renewing, shownName } from '../lib/contestants.mjs'
import { figure, reach, table } from '../lib/table.mjs'

export const name = 'size'
export const title = 'Size: what it adds to a bundle'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 4

const LIMITS = new URL('../../.size-limit.json', import.meta.url)
const BENCH = fileURLToPath(new URL('../', import.meta.url))
const DEPENDENCIES = ['async-mutex', 'p-retry']
/** All that a page with logins and several tabs imports. */
const PAGE = {
  name: 'a single-page application',
  platform: 'browser',
  import: {
    'dist/index.js': '{ attachBearer, createTokenManager }',
    'dist/oauth2.js': '{ oauth2 }',
    'dist/web.js': '{ followPage, webStore }',
  },
}
/** The required sizes, KiB, by their name in `.size-limit.json`. That file has the limits that every change must keep. */
const MOST_KIB = { 'Variant A in a page': 34, 'a single-page application': 43 }

export async function run() {
  const limits = JSON.parse(readFileSync(LIMITS, 'utf8'))
  const ours = {}
  for (const row of [...limits.filter((row) => row.name !== PAGE.name), PAGE]) ours[row.name] = await bundled(row)
  const ownCode = await bundled(limits[0], DEPENDENCIES)
  const others = {}
  for (const each of packages()) others[each] = await bundledModule(`export * from '${each}'`, { from: BENCH })
  return { ours, ownCode, others }
}

/** The other contestants that can be installed. */
function packages() {
  const { dependencies } = JSON.parse(readFileSync(`${BENCH}package.json`, 'utf8'))
  return renewing.map((each) => each.name).filter((each) => each in dependencies)
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
  return `Bundled and minified by esbuild, with all dependencies but axios. Variant A is \`attachBearer\`, \`createTokenManager\` and \`clientCredentials\`.
A single-page application has \`attachBearer\`, \`createTokenManager\`, \`oauth2\`, \`webStore\` and \`followPage\`. The others
are bundled whole. The last three include a transport of their own, and ways to log in that no other package here has. \`npm run check:size\` holds the
sizes of axios-evergreen at every change: its limits are in \`.size-limit.json\`.

${table(['package', '>minified, KiB', '>and gzipped, KiB'], rows)}

${lines.join('\n\n')}

Most of it is own code: the renewal, the answers of the service, and the checks of options and answers, each with a message that says what
to do.`
}
