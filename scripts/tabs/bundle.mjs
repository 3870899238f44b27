import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const project = fileURLToPath(new URL('../..', import.meta.url))
const ENTRIES = {
  'axios-evergreen/oauth2': 'oauth2',
  'axios-evergreen/web/inspector': 'inspector',
  'axios-evergreen/web': 'web',
  'axios-evergreen': 'index',
}

/** The script of the pages, with the package as it is built. */
export async function bundle() {
  const alias = Object.fromEntries(Object.entries(ENTRIES).map(([name, entry]) => [name, `${project}dist/${entry}.js`]))
  const entryPoints = [fileURLToPath(new URL('page.mjs', import.meta.url))]
  // The app has side effects, though the package has none.
  const options = { entryPoints, alias, bundle: true, format: 'esm', write: false, ignoreAnnotations: true }
  const { outputFiles } = await build(options)
  return outputFiles[0].text
}
