import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundled, bundledModule } from '../../scripts/lib/size.mjs'
import { renewing } from '../lib/contestants.mjs'
import { figure, range } from '../lib/table.mjs'

export const name = 'size'
export const title = 'Size: what it adds to a bundle'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 4
/** Bytes are the same on every machine. */
export const isExact = true

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

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf({ ours, others: all }) {
  const kib = ({ gzipped }) => gzipped / 1_024
  return [
    'bundle size in KiB, gzipped: Variant A, with all dependencies except axios',
    figure(kib(ours['Variant A']), 1),
    `a single-page application ${figure(kib(ours[PAGE.name]), 1)}; others, whole, ${range(Object.values(all).map(kib))
      .map((one) => figure(one, 1))
      .join(' to ')}`,
  ]
}
