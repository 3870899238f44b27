// Writes docs/evidence/benchmarks.md, its pictures and the tables of docs/evidence/scorecard.md from results.json: `npm run bench:page`. All figures and
// all titles of pictures come from results.json.
import { mkdirSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { chart } from './lib/chart.mjs'
import { writeFormatted } from './lib/formatted.mjs'
import { committedResults } from './lib/results.mjs'
import { table } from './lib/table.mjs'
import { writeScorecard } from './scorecard-page.mjs'

const DOCS = new URL('../docs/', import.meta.url)
const PAGE = new URL('evidence/benchmarks.md', DOCS)

export async function writePage() {
  const { machine, scenarios } = await committedResults()
  const parts = [introduction(machine)]
  mkdirSync(new URL('images/', DOCS), { recursive: true })
  for (const { name, title, section, charts, results, seconds } of scenarios) {
    const shown = Object.entries(charts?.(results) ?? {}).map(([file, { caption, ...options }]) => {
      writeFileSync(new URL(`images/${file}`, DOCS), chart(options))
      return `![${options.title}](../images/${file})\n\n_${caption}_`
    })
    parts.push(`## ${title}`, `\`npm run bench -- --only ${name}\` (${seconds} s)`, section(results), ...shown)
  }
  await writeFormatted(PAGE, parts.join('\n\n'))
  await writeScorecard(Object.fromEntries(scenarios.map(({ name, results }) => [name, results])))
}

function introduction({ versions, ...machine }) {
  return `# Measured

What a token costs, beside the alternatives. \`npm run bench\` measures everything and writes this page. \`npm run bench:page\` writes it
again from the last measurement: no figure is written by hand.

${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}, Node ${machine.node}.

${table(['package', 'version'], Object.entries(versions))}

Each contestant is used as its README recommends, with its best options for this purpose: one short file each in
\`bench/contestants\` of the repository. Their versions are the newest that run on all Node versions of this package. All make the same [token
call](../glossary.md#exchange), and all on axios use the same copy of it.

How to read it: each round measures all contestants in turn, in a new random order. A ratio compares a contestant with the reference in
the same round. The figure is the median of all rounds; the brackets hold the middle half. The row **A/A** measures the
reference a second time: its difference from 1 is noise, and so is any difference as small. If that noise, with its brackets, is more than a quarter of
the distance between the reference and a goal, there is no verdict. A token service over HTTP is the simulated one
of \`axios-evergreen/testing\`, in a thread of its own.`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writePage()
