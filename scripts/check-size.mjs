// npm run check:size: bundles what `.size-limit.json` names, with all dependencies but axios, and enforces its limits. The goals are printed, too.
import { readFileSync } from 'node:fs'
import { bundled } from './lib/size.mjs'

const rows = JSON.parse(readFileSync('.size-limit.json', 'utf8'))
for (const row of rows) {
  const { gzipped } = await bundled(row)
  const limit = parseFloat(row.limit) * 1_024
  const isWithin = gzipped <= limit
  if (!isWithin) process.exitCode = 1
  const shown = `${(gzipped / 1_024).toFixed(2).padStart(6)} KiB of at most ${row.limit.padStart(8)}`
  const goal = row.goal === undefined ? '' : `  (goal ${row.goal})`
  console.log(`${isWithin ? 'ok  ' : 'FAIL'}  ${shown}  ${row.name}${goal}`)
}
