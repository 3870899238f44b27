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

/** The scripts of the pages and of their workers, with the package as it is built. */
export async function bundle() {
  const [script, worker] = await Promise.all(['page.mjs', '../../../test/browser/app/main.mjs'].map(bundled))
  return { script, worker }
}

async function bundled(file) {
  const alias = Object.fromEntries(Object.entries(ENTRIES).map(([name, entry]) => [name, `${project}dist/${entry}.js`]))
  const entryPoints = [fileURLToPath(new URL(file, import.meta.url))]
  // The app has side effects, though the package has none.
  const options = { entryPoints, alias, bundle: true, format: 'esm', write: false, ignoreAnnotations: true }
  const { outputFiles } = await build(options)
  return outputFiles[0].text
}
