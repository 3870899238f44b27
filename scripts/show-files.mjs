// Writes into the pages the files that they show: each block of code between <!-- file: PATH --> and <!-- /file --> (test/included.test.ts compares).
// Also writes the table of rooms into CONTRIBUTING.md (test/contributing.test.ts), the table of docs/rfcs.md (test/rfcs/rfcs.test.ts), and llms.txt,
// for assistants (test/llms.test.ts).
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { syncTable } from './lib/pages.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const SHOWN = /(<!-- file: (\S+) -->\n+```\w+\n).*?(```\n+<!-- \/file -->)/gs

for (const name of readdirSync('docs', { recursive: true }).filter((name) => name.endsWith('.md'))) {
  const page = readFileSync(`docs/${name}`, 'utf8')
  const written = page.replace(SHOWN, (_, before, file, after) => before + readFileSync(file, 'utf8') + after)
  if (written !== page) writeFileSync(`docs/${name}`, written)
}

const { roomsTable } = await import('./lib/rooms-table.mjs')
await syncTable('CONTRIBUTING.md', 'rooms', roomsTable())

const { rfcsTable } = await import('../test/rfcs/table.mjs')
await syncTable('docs/rfcs.md', 'rfcs', rfcsTable())

const { llmsText } = await import('./llms/text.mjs')
writeFileSync('llms.txt', llmsText())
