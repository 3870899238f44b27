import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const project = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Bundles a row of `.size-limit.json` as a user's bundler would: minified, with all dependencies but axios.
 *
 * @param row `path`: the built file, all of it; or `import`: the names to import, or the names by file. `platform`: `browser` for a page.
 * @param others More that stays outside.
 * @returns Bytes: `{ minified, gzipped }`.
 */
export function bundled({ path, import: names = '*', platform }, others) {
  const ofFiles = typeof names === 'string' ? { [path]: names } : names
  const lines = Object.entries(ofFiles).map(([file, what]) => `export ${what} from ${JSON.stringify(project + file)}`)
  return bundledModule(lines.join('\n'), { platform, others })
}

/** Like `bundled`, for a module. @param from The folder in which its packages are looked up. */
export async function bundledModule(contents, { from = project, platform = 'node', others = [] } = {}) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: from },
    bundle: true,
    minify: true,
    platform,
    format: 'esm',
    external: ['axios', ...others],
    write: false,
    logLevel: 'error',
  })
  const [{ contents: text }] = outputFiles
  return { minified: text.length, gzipped: gzipSync(text, { level: 9 }).length }
}
