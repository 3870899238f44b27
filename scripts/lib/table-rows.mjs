import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'

/**
 * Replaces rows of a table in a document. The rows of other engines stay, because not every machine has all engines.
 *
 * @param document In `docs/`. @param table What stands in the comments around the table. @param rows The first cell names the row.
 */
export async function writeRows(document, table, rows) {
  const file = fileURLToPath(new URL(`../../docs/${document}`, import.meta.url))
  const lines = readFileSync(file, 'utf8').split('\n')
  const [from, to] = [`<!-- table: ${table} -->`, `<!-- /table: ${table} -->`].map((line) => lines.indexOf(line))
  for (const row of rows) {
    const at = lines.findIndex((line, n) => n > from && n < to && line.startsWith(`| ${row[0]} `))
    if (from < 0 || at < 0) throw new Error(`docs/${document} has no row for ${row[0]} in the table of ${table}`)
    lines[at] = `| ${row.join(' | ')} |`
  }
  writeFileSync(file, await format(lines.join('\n'), { ...(await resolveConfig(file)), filepath: file }))
}
