import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const project = fileURLToPath(new URL('../../..', import.meta.url))
const ENTRIES = {
  'axios-evergreen/login': 'login',
  'axios-evergreen/oauth2': 'oauth2',
  'axios-evergreen/web/inspector': 'inspector',
  'axios-evergreen/web': 'web',
  'axios-evergreen': 'index',
}

/**
 * The scripts of the pages and of their workers, with the package as it is built.
 *
 * @param removal `[pattern, text]`: inserted after the only place of the package that the pattern matches.
 */
export async function bundle(page = 'page.mjs', removal = undefined) {
  const files = [page, '../../../test/browser/app/main.mjs']
  const [script, worker] = (await Promise.all(files.map(bundled))).map((text) => without(text, removal))
  return { script, worker }
}

function without(text, removal) {
  if (!removal) return text
  const [pattern, more] = removal
  if (!pattern.test(text)) throw new Error(`The package has no ${pattern}`)
  return text.replace(pattern, (found) => found + more)
}

async function bundled(file) {
  const alias = Object.fromEntries(Object.entries(ENTRIES).map(([name, entry]) => [name, `${project}dist/${entry}.js`]))
  const entryPoints = [fileURLToPath(new URL(file, import.meta.url))]
  // The app has side effects, though the package has none.
  const options = { entryPoints, alias, bundle: true, format: 'esm', write: false, ignoreAnnotations: true }
  const { outputFiles } = await build(options)
  return outputFiles[0].text
}
