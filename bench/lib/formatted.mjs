import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'

/** Writes a file as `npm run lint` wants it. */
export async function writeFormatted(url, text) {
  const filepath = fileURLToPath(url)
  writeFileSync(filepath, await format(text, { ...(await resolveConfig(filepath)), filepath }))
}
