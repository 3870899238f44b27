// Tables that commands write into pages, each between <!-- table: COMMAND --> and <!-- /table: COMMAND -->.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'

const project = fileURLToPath(new URL('../..', import.meta.url))

/** @param rows Arrays of cells, the headings first. @param rule The second line of the table. */
export function markdownTable(rows, rule = rows[0].map(() => '---')) {
  return [rows[0], rule, ...rows.slice(1)].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Writes a file as `npm run lint` wants it. @param path From the root of the project. */
export async function writeFormatted(path, text) {
  writeFileSync(project + path, await formatted(path, text))
}

/**
 * Compares the table of a command with the one on its page.
 *
 * @param write Whether to write it if it differs.
 * @returns `current`, `written` or `outdated`.
 */
export async function syncTable(path, command, table, write = true) {
  const page = readFileSync(project + path, 'utf8')
  const [before, , after] = parts(page, command)
  const text = await formatted(path, `${before}\n\n${table}\n\n${after}`)
  if (text === page) return 'current'
  if (write) writeFileSync(project + path, text)
  return write ? 'written' : 'outdated'
}

/** Replaces rows of a table. The others stay, because not every machine can measure all of them. @param rows The first cell names the row. */
export async function writeRows(path, command, rows) {
  const [before, table, after] = parts(readFileSync(project + path, 'utf8'), command)
  const lines = table.split('\n')
  for (const row of rows) {
    const at = lines.findIndex((line) => line.startsWith(`| ${row[0]} `))
    if (at < 0) throw new Error(`${path} has no row for ${row[0]} in the table of ${command}`)
    lines[at] = `| ${row.join(' | ')} |`
  }
  await writeFormatted(path, before + lines.join('\n') + after)
}

async function formatted(path, text) {
  const filepath = project + path
  return format(text, { ...(await resolveConfig(filepath)), filepath })
}

/** @returns The page up to the table, the table, and the rest, with the comments outside the table. */
function parts(page, command) {
  const [begin, end] = [`<!-- table: ${command} -->`, `<!-- /table: ${command} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`No page has a table of ${command} between ${begin} and ${end}`)
  return [page.slice(0, from + begin.length), page.slice(from + begin.length, to), page.slice(to)]
}
