// JavaScript: ESM that imports its dependencies, CommonJS that carries them inside: p-retry is ESM only, and async-mutex would load eight files.
// No source maps: the output keeps the names of all files and functions, and the package does not ship what maps would point at.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { entries, pageEntries } from './scripts/lib/entries.mjs'

const external = ['axios', '@opentelemetry/api', /^node:/]
const dir = 'dist'
/**
 * Each file more takes time at the start of a process. What `axios-evergreen` needs is three: what knows no axios, which all entries share; what
 * speaks HTTP, which it shares with oauth2 and mcp; and the rest, in the entry itself. So the stores and fetch load no axios.
 */
const codeSplitting = {
  groups: [
    { name: 'core', test: /src.(client|core)|rolldown.runtime/ },
    { name: 'wire', test: /src.wire/, minShareCount: 2 },
    { name: 'store', test: /src.store./, minShareCount: 2 },
  ],
}
/** Declarations keep the comments for editors. Bundlers need the annotations. */
const comments = { legal: true, annotation: true, jsdoc: false }
/**
 * Reading the text is most of what the start of a process takes. Names of functions and classes stay for stack traces. Each statement keeps its
 * line: for an error that nobody handles, Node prints the line where it was thrown.
 */
const named = { keepNames: { function: true, class: true } }
const minify = { compress: false, mangle: named, codegen: { removeWhitespace: false } }
/** V8 keeps a file with one character beyond ASCII at two bytes for each character. Without comments, such characters stand in literals only. */
const ascii = {
  name: 'ascii',
  // Not in renderChunk: rolldown prints the code anew after that.
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped)
  },
}
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
const shared = { dir, comments, minify, plugins: [ascii] }
/** `proxy.browser.ts` stands in the place of `proxy.ts`. */
const forPages = {
  name: 'for-pages',
  resolveId(id, importer) {
    const other = importer && id.startsWith('.') && join(dirname(importer), id.replace(/\.ts$/, '.browser.ts'))
    return other && existsSync(other) ? other : undefined
  },
}
const sourcesOf = (names) => Object.fromEntries(names.map((name) => [name, entries[name]]))
const input = sourcesOf(Object.keys(entries).filter((name) => name !== 'testing'))
/** `testing` needs nothing of the other entries, and runs in Node only: ESM leads to the one file for both formats. */
const oneForBoth = {
  name: 'one-for-both',
  generateBundle(_, bundle) {
    const source = `export { ${bundle['testing.cjs'].exports.join(', ')} } from "./testing.cjs";\n`
    this.emitFile({ type: 'asset', fileName: 'testing.js', source })
  },
}

export default [
  {
    input,
    platform: 'neutral',
    external: [...external, 'async-mutex', 'p-retry'],
    output: { ...shared, format: 'esm', codeSplitting, chunkFileNames: 'shared-[name].js', cleanDir: true },
  },
  // For the condition `browser`: without what only Node and similar runtimes can use.
  {
    input: sourcesOf(pageEntries),
    platform: 'neutral',
    external: [...external, 'async-mutex', 'p-retry'],
    plugins: [forPages],
    output: { ...shared, dir: `${dir}/browser`, format: 'esm', codeSplitting, chunkFileNames: 'shared-[name].js' },
  },
  {
    input: entries,
    platform: 'neutral',
    external,
    // async-mutex names its ES modules so.
    resolve: { mainFields: ['module', 'main'] },
    // Modules are strict by themselves; CommonJS would run the same code in sloppy mode.
    output: {
      ...shared,
      plugins: [ascii, oneForBoth],
      format: 'cjs',
      strict: true,
      entryFileNames: '[name].cjs',
      codeSplitting,
      chunkFileNames: 'shared-[name].cjs',
    },
  },
  // The program `axios-evergreen` uses the built package, as its users do.
  {
    input: { doctor: 'src/doctor/main.ts' },
    platform: 'node',
    external,
    plugins: [
      {
        name: 'built',
        resolveId(id) {
          const found = /^\.\.\/(?:(oauth2|sqlite)\/)?index\.ts$/.exec(id)
          return found && { id: `./${found[1] ?? 'index'}.js`, external: true }
        },
      },
    ],
    output: { ...shared, format: 'esm' },
  },
]
