// @ts-check
// node scripts/release/ready.mjs TAG: whether this commit may be released under that tag. The release begins with it, before anything is installed.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const project = new URL('../../', import.meta.url)

/**
 * @param {string | undefined} tag Such as `v0.2.0`.
 * @param {Record<string, unknown>} manifest What package.json holds.
 * @param {readonly string[]} changes The files of the folder .changeset.
 * @param {string} changelog
 * @returns {string[]} What is missing, a sentence each; nothing if the commit is ready.
 */
export function missingFor(tag, manifest, changes, changelog) {
  const missing = []
  if (tag !== `v${String(manifest.version)}`)
    missing.push(`The tag must be v${String(manifest.version)}, the version in package.json`)
  // Provenance names the repository, and npm compares it with package.json.
  for (const name of ['repository', 'homepage', 'bugs'])
    if (!manifest[name]) missing.push(`package.json has no ${name}: a maintainer must fill in where the project lives`)
  const waiting = changes.filter((name) => name.endsWith('.md') && name !== 'README.md')
  // No user has an older version, so its section describes the whole package.
  const isFirst = changelog.match(/^## /gm)?.length === 1
  const todo = isFirst ? 'delete them, because the first release has no changes' : 'run npm run changelog first'
  if (waiting.length > 0) missing.push(`${waiting.length} changes wait in .changeset: ${todo}`)
  return missing
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const manifest = JSON.parse(readFileSync(new URL('package.json', project), 'utf8'))
  const changelog = readFileSync(new URL('CHANGELOG.md', project), 'utf8')
  const missing = missingFor(process.argv[2], manifest, readdirSync(new URL('.changeset/', project)), changelog)
  for (const sentence of missing) console.error(sentence)
  process.exitCode = missing.length === 0 ? 0 : 1
}
