// node scripts/tests/slowest.mjs REPORT: the ten slowest test files of a report by `jest --json`, in seconds.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const files = testResults.map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1_000 }))
for (const { name, seconds } of files.sort((one, other) => other.seconds - one.seconds).slice(0, 10))
  console.log(`${seconds.toFixed(1).padStart(6)} s  ${relative('', name)}`)
