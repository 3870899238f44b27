// Holds the public surface, as the built declarations show it, to api/*.d.ts, so that every change of it is seen in a diff:
// npm run check:api. After a change that is meant: npm run check:api -- --write
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const isWriting = process.argv.includes('--write')
const changed = []
mkdirSync('api', { recursive: true })
for (const entry of ['index', 'inspector', 'oauth2', 'opentelemetry', 'postgres', 'redis', 'store', 'testing', 'web']) {
  const file = `api/${entry}.d.ts`
  const surface = surfaceOf(`${entry}.d.ts`)
  if (isWriting) writeFileSync(file, surface)
  else if (read(file) !== surface) changed.push(file)
}
if (changed.length > 0) {
  console.error(`The public surface differs from ${changed.join(', ')}. If that is meant: npm run check:api -- --write`)
  process.exit(1)
}

/** A declaration file, with what it shares with others in the place of the first import of that. */
function surfaceOf(name, seen = new Set()) {
  return readFileSync(`dist/${name}`, 'utf8')
    .replace(/^import \{[^}]*\} from '\.\/(types-[\w-]+)\.js';\n/gm, (_, shared) =>
      seen.has(shared) ? '' : surfaceOf(`${shared}.d.ts`, seen.add(shared)).replace(/^export .*\n?/gm, ''),
    )
    .replace(/^(export \{[^}]*\}) from '\.\/types-[\w-]+\.js';$/gm, (_, names) => `${names.replace(/\w+ as /g, '')};`)
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
