import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { EVERGREEN, renewing, shownName } from '../lib/contestants.mjs'
import { figure, reach, table } from '../lib/table.mjs'

export const name = 'size'
export const title = 'Size: what it adds to a bundle'

const MOST_KIB = 10
const DEPENDENCIES = ['async-mutex', 'p-retry']

export async function run() {
  const sizes = {}
  for (const each of packages()) sizes[each] = await sizeOf(entry(each))
  return {
    sizes,
    oneVariant: await sizeOf(fileURLToPath(new URL('../lib/size/one-variant.mjs', import.meta.url))),
    ownCode: await sizeOf(entry(EVERGREEN), DEPENDENCIES),
  }
}

/** The contestants that can be installed. */
function packages() {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return renewing.map((each) => each.name).filter((each) => each === EVERGREEN || each in dependencies)
}

function entry(each) {
  return fileURLToPath(each === EVERGREEN ? new URL('../../dist/index.js', import.meta.url) : import.meta.resolve(each))
}

/** The whole entry with all that it imports, but for axios and Node's own modules. */
async function sizeOf(input, others = []) {
  const bundle = await rolldown({ input, platform: 'node', external: ['axios', ...others], logLevel: 'silent' })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false })
  await bundle.close()
  const code = output.map((chunk) => chunk.code ?? '').join('')
  return { minified: Buffer.byteLength(code), gzipped: gzipSync(code, { level: 9 }).length }
}

export function ratios({ sizes }) {
  return { 'gzipped bytes': { value: sizes[EVERGREEN].gzipped, tolerance: 1.02 } }
}

export function section({ sizes, oneVariant, ownCode }) {
  const kib = (bytes) => figure(bytes / 1_024, 1)
  const rows = Object.entries(sizes).map(([each, { minified, gzipped }]) => [
    shownName(each),
    kib(minified),
    kib(gzipped),
  ])
  rows.splice(
    1,
    0,
    ['… by one who imports `clientCredentials` alone', kib(oneVariant.minified), kib(oneVariant.gzipped)],
    ['… without its two dependencies', kib(ownCode.minified), kib(ownCode.gzipped)],
  )
  const ours = sizes[EVERGREEN].gzipped / 1_024
  return `The main entry with all its dependencies, bundled and minified by rolldown, without axios. The last three bring a transport of their own, and ways
to log in that nobody else here has.

${table(['package', '>minified, KiB', '>and gzipped, KiB'], rows)}

${reach(ours <= MOST_KIB, `at most ${MOST_KIB} KiB, minified and gzipped: ${ours.toFixed(1)} KiB.${ours <= MOST_KIB ? '' : WHY}`)}`
}

const WHY = ` Most of it is its own code: beside the renewal, the checks of options and of answers, each with a message that says what to do,
and the second variant of the service.`
