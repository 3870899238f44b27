import { readFileSync } from 'node:fs'
import { writeFormatted } from './lib/formatted.mjs'
import { cheaper, summary } from './scenarios/scorecard.mjs'

const SCORECARD = new URL('../docs/evidence/scorecard.md', import.meta.url)

/** Writes the tables of docs/evidence/scorecard.md between their marks, from the results of three scenarios. */
export async function writeScorecard({ scorecard, size, start }) {
  const tables = { scorecard: summary(scorecard, { meanings: true }), cheaper: cheaper(size, start) }
  const written = Object.entries(tables).reduce(
    (page, [mark, text]) => {
      const [begin, end] = [`<!-- ${mark}: npm run bench -->`, `<!-- /${mark} -->`]
      const [before, rest] = page.split(begin)
      return `${before}${begin}\n\n${text}\n\n${end}${rest.split(end)[1]}`
    },
    readFileSync(SCORECARD, 'utf8'),
  )
  await writeFormatted(SCORECARD, written)
}
