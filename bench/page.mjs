// Writes docs/evidence/benchmarks.md and the tables of docs/evidence/scorecard.md from results.json: `npm run bench:page`.
import { pathToFileURL } from 'node:url'
import { writeFormatted } from './lib/formatted.mjs'
import { committedResults } from './lib/results.mjs'
import { table } from './lib/table.mjs'
import { writeScorecard } from './scorecard-page.mjs'

const PAGE = new URL('../docs/evidence/benchmarks.md', import.meta.url)

export async function writePage() {
  const { machine, scenarios } = await committedResults()
  await writeFormatted(PAGE, pageOf(machine, scenarios))
  await writeScorecard(Object.fromEntries(scenarios.map(({ name, results }) => [name, results])))
}

function pageOf({ versions, ...machine }, scenarios) {
  const rows = scenarios
    .filter(({ isApart }) => !isApart)
    .map(({ name, figureOf, results }) => [...figureOf(results), `\`${name}\``])
  return `# Benchmarks

What a token costs, beside seven alternatives. \`npm run bench\` measures everything in some 35 minutes and writes this page; \`npm run bench -- --only NAME\` measures one row. All other
figures, with their noise, are in \`bench/results.json\`. \`npm run bench:check\` compares a short run with them. What each does when something goes wrong: [scorecard](scorecard.md).

${table(['figure', '>axios-evergreen', 'beside it', 'name'], rows)}

${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}, Node ${machine.node}. Versions: ${Object.entries(
    versions,
  )
    .map((one) => one.join(' '))
    .join(', ')}.

Each contestant is used as its README recommends, in one short file each in \`bench/contestants\`. A round measures all of them in turn, in a new random order, and a ratio compares two of
the same round. A figure is the median; brackets hold its spread. **A/A** measures the reference a second time: a difference as small is noise. The hot path counts quiet laps
(tenth quantile) in three processes. The token service over HTTP is that of \`axios-evergreen/testing\`, in a thread of its own.
`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writePage()
