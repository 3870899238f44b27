// Writes docs/evidence/benchmarks.md and the tables of docs/evidence/scorecard.md from results.json: `npm run bench:page`.
import { pathToFileURL } from 'node:url'
import { syncTable, writeFormatted } from '../scripts/lib/pages.mjs'
import { committedResults } from './lib/results.mjs'
import { table } from './lib/table.mjs'
import { cheaper, summary } from './scenarios/scorecard.mjs'

export async function writePage() {
  const { machine, scenarios } = await committedResults()
  await writeFormatted('docs/evidence/benchmarks.md', pageOf(machine, scenarios))
  const { scorecard, size, start } = Object.fromEntries(scenarios.map(({ name, results }) => [name, results]))
  await syncTable('docs/evidence/scorecard.md', 'scorecard', summary(scorecard))
  await syncTable('docs/evidence/scorecard.md', 'cheaper', cheaper(size, start))
}

function pageOf({ versions, ...machine }, scenarios) {
  const rows = scenarios
    .filter(({ isApart }) => !isApart)
    .map(({ name, figureOf, results }) => [...figureOf(results), `\`${name}\``])
  return `# Benchmarks

The cost of a token, compared with seven alternatives. \`npm run bench\` measures everything in about 35 minutes and writes this page. \`npm run bench -- --only NAME\` measures one row. All other
figures, with their noise, are in \`bench/results.json\`. \`npm run bench:check\` compares a short run with them. The [scorecard](scorecard.md) compares what each does when something goes wrong.

${table(['figure', '>axios-evergreen', 'comparison', 'name'], rows)}

${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}, Node ${machine.node}. Versions: ${Object.entries(
    versions,
  )
    .map((one) => one.join(' '))
    .join(', ')}.

Each contestant is used as its README recommends, in a short file in \`bench/contestants\`. A round measures all of them in a new random order, and a ratio compares two of the
same round. A figure is the median, with its spread in parentheses. **A/A** measures the reference a second time. A smaller difference is noise. The hot path uses quiet laps
(tenth quantile) in three processes. The token service over HTTP is that of \`axios-evergreen/testing\`, in its own thread.
`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writePage()
