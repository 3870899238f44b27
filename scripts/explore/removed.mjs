// Prints how many random runs it takes to find that a fix was removed (`removals.mjs`; `nothing`: none):
// node scripts/explore/removed.mjs F399 two-acts 500 1 2 3
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { bundle } from './bundle.mjs'

const [rule, property, runs, ...seeds] = process.argv.slice(2)
const file = await bundle('properties/removed', rule === 'nothing' ? undefined : rule)
for (const seed of seeds) {
  const { stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', file, property, runs, seed], {
    encoding: 'utf8',
  })
  console.log(`${rule} taken out, ${stdout.trim() || stderr}`)
}
rmSync(file)
