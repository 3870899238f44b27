// Writes into the pages the files that they show: each block of code between <!-- file: PATH --> and <!-- /file --> (test/included.test.ts compares). And
// the table of rooms into CONTRIBUTING.md (test/contributing.test.ts).
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const SHOWN = /(<!-- file: (\S+) -->\n+```\w+\n).*?(```\n+<!-- \/file -->)/gs

for (const name of readdirSync('docs', { recursive: true }).filter((name) => name.endsWith('.md'))) {
  const page = readFileSync(`docs/${name}`, 'utf8')
  const written = page.replace(SHOWN, (_, before, file, after) => before + readFileSync(file, 'utf8') + after)
  if (written !== page) writeFileSync(`docs/${name}`, written)
}

const { roomsTable } = await import('./lib/rooms-table.mjs')
const contributing = readFileSync('CONTRIBUTING.md', 'utf8').replace(
  /(<!-- rooms -->\n).*?(<!-- \/rooms -->)/s,
  (_, before, after) => `${before}\n${roomsTable()}\n\n${after}`,
)
const options = { ...(await resolveConfig('CONTRIBUTING.md')), filepath: 'CONTRIBUTING.md' }
writeFileSync('CONTRIBUTING.md', await format(contributing, options))
