// JavaScript: ESM that imports its dependencies, CommonJS that carries them inside: p-retry is ESM only, and async-mutex would load eight files.
// No source maps: the output keeps the names of all files and functions, and the package does not ship what maps would point at.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { entries } from './scripts/lib/entries.mjs'

const external = ['axios', '@opentelemetry/api', /^node:/]
const dir = 'dist'
/**
 * Each file more takes time at the start of a process. `axios-evergreen` needs few: what knows no axios, which all entries share; what speaks HTTP, which it
 * shares with oauth2 and mcp; and the rest. So the stores and fetch load no axios, and `axios-evergreen` loads no record.
 */
const groups = [
  { name: 'core', test: /src.(client|core|axios.member-of)|rolldown.runtime/ },
  // The rules of a record that processes share: the stores alone need them.
  { name: 'record', test: /src.record/ },
  { name: 'wire', test: /src.wire/, minShareCount: 2 },
  { name: 'store', test: /src.store./, minShareCount: 2 },
  // Its file and that of `index` are short enough for gzip, see `commonJs`.
  { name: 'service', test: /src.service/ },
]
/** Declarations keep the comments for editors. Bundlers need the annotations. */
const comments = { legal: true, annotation: true, jsdoc: false }
/**
 * Reading the text is most of what the start of a process takes. Names of functions and classes stay for stack traces. Each statement keeps its
 * line: for an error that nobody handles, Node prints the line where it was thrown.
 */
const named = { keepNames: { function: true, class: true } }
/** Shortens what a user's bundler may not. No statements are joined. */
const compress = { ...named, sequences: false, joinVars: false, target: 'es2022' }
const minify = { compress, mangle: named, codegen: { removeWhitespace: false } }
/**
 * V8 keeps a file with one character beyond ASCII at two bytes for each character. Without comments, such characters stand in literals only. Lines begin without
 * tabs: no text of the sources has a tab in it.
 */
const plain = {
  name: 'plain',
  // Not in renderChunk: rolldown prints the code anew after that.
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle))
      chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped).replace(/^\t+/gm, '')
  },
}
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
const shared = { dir, comments, minify, plugins: [plain] }
/**
 * What only Node can use stands in modules with a twin for pages: `proxy.ts` has `proxy.browser.ts`. Two files of the package hold such modules, and are built
 * once more with the twins: `browser` of package.json puts `shared-wire.browser.js` in the place of `shared-wire.js`. No other file differs.
 */
const hosts = {
  'shared-runtime': ['src/core/own-runtime.ts', 'src/core/builtin-module.ts'],
  'shared-wire': sourcesIn('src/wire'),
}
const hostOf = (path) => Object.keys(hosts).find((name) => hosts[name].includes(path.replace('.browser.', '.')))
const byHost = {
  name: 'by-host',
  resolveId(id, importer = '') {
    if (id.split('?')[0] in hosts) return id
    if (!id.startsWith('.')) return undefined
    const [from, page] = importer.split('?')
    const path = relative('.', from in hosts ? id : join(dirname(from), id)).replaceAll('\\', '/')
    const host = hostOf(path)
    if (host === undefined) return resolve(path)
    if (from !== host && hostOf(relative('.', from).replaceAll('\\', '/')) !== host)
      return { id: `./${host}.js`, external: true }
    const twin = path.replace('.ts', '.browser.ts')
    return page ? `${resolve(existsSync(twin) ? twin : path)}?page` : resolve(path)
  },
  load(id) {
    const [name, page] = id.split('?')
    if (name in hosts) return hosts[name].map((path) => `export * from './${path}'`).join('\n')
    return page && { code: readFileSync(name, 'utf8'), moduleType: 'ts' }
  },
}
function sourcesIn(folder) {
  return readdirSync(folder)
    .filter((name) => !name.includes('.browser.'))
    .map((name) => `${folder}/${name}`)
}
const hostInput = Object.fromEntries(
  Object.keys(hosts).flatMap((name) => [
    [name, name],
    [`${name}.browser`, `${name}?page`],
  ]),
)
/** No module of a host belongs to another file. */
const isHosted = (id) => hostOf(relative('.', id.replace('?page', '')).replaceAll('\\', '/')) !== undefined
const esmGroups = groups.map(({ test, ...group }) => ({ ...group, test: (id) => test.test(id) && !isHosted(id) }))
const sourcesOf = (names) => Object.fromEntries(names.map((name) => [name, entries[name]]))
const input = sourcesOf(Object.keys(entries).filter((name) => name !== 'testing'))
/**
 * CommonJS has a folder, where its files have the names of those for ESM: npm packs files of one name side by side, and gzip finds again what it has seen within
 * the last 32 KB.
 */
const commonJs = {
  name: 'common-js',
  generateBundle(_, bundle) {
    this.emitFile({
      type: 'asset',
      fileName: 'cjs/package.json',
      source: '{ "type": "commonjs", "sideEffects": false }\n',
    })
    // `testing` needs nothing of the other entries, and runs in Node only: ESM leads to the one file for both formats.
    const source = `export { ${bundle['cjs/testing.js'].exports.join(', ')} } from "./cjs/testing.js";\n`
    this.emitFile({ type: 'asset', fileName: 'testing.js', source })
  },
}

export default [
  {
    input: { ...input, ...hostInput },
    platform: 'neutral',
    external: [...external, 'async-mutex', 'p-retry'],
    plugins: [byHost],
    output: {
      ...shared,
      format: 'esm',
      codeSplitting: { groups: esmGroups },
      chunkFileNames: 'shared-[name].js',
      cleanDir: true,
    },
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
      plugins: [plain, commonJs],
      format: 'cjs',
      strict: true,
      entryFileNames: 'cjs/[name].js',
      codeSplitting: { groups },
      chunkFileNames: 'cjs/shared-[name].js',
    },
  },
  // The program `axios-evergreen` uses the built package, as its users do.
  {
    input: { doctor: 'tools/doctor/main.ts' },
    platform: 'node',
    external,
    plugins: [
      {
        name: 'built',
        resolveId(id) {
          const found = /^\.\.\/\.\.\/src\/(?:(oauth2|sqlite)\/)?index\.ts$/.exec(id)
          return found && { id: `./${found[1] ?? 'index'}.js`, external: true }
        },
      },
    ],
    output: { ...shared, format: 'esm' },
  },
]
