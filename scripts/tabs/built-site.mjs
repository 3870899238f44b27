import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const project = fileURLToPath(new URL('../..', import.meta.url))

/** The site of the browser tests, with the package as it is built. */
export async function builtSite() {
  const folder = mkdtempSync(join(project, 'node_modules', '.tabs-'))
  const esbuild = (input, output, ...flags) =>
    execFileSync(process.execPath, [
      join(project, 'node_modules', 'esbuild', 'bin', 'esbuild'),
      join(project, input),
      ...['--bundle', '--format=esm', '--log-level=warning', `--outfile=${join(folder, output)}`, ...flags],
    ])
  const dist = (name) => join(project, 'dist', `${name}.js`)
  const entries = {
    'axios-evergreen': 'index',
    'axios-evergreen/oauth2': 'oauth2',
    'axios-evergreen/web': 'web',
    'axios-evergreen/web/inspector': 'inspector',
  }
  const alias = Object.entries(entries).map(([name, entry]) => `--alias:${name}=${dist(entry)}`)
  esbuild('test/browser/app/main.mjs', 'esbuild/main.js', ...alias)
  esbuild('test/browser/support/site.ts', 'site.mjs', '--platform=node')
  const { startSite } = await import(pathToFileURL(join(folder, 'site.mjs')).href)
  return { site: await startSite(folder), remove: () => rmSync(folder, { recursive: true }) }
}
