// Packs the package (which builds it) and uses the packed copy as its users will. Nothing is downloaded: the copy is below this project, so Node
// finds its dependencies in the node_modules of the project.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { finish, report } from './lib/checks.mjs'
import { entries } from './lib/entries.mjs'
import { repositoryOf } from './package/links.mjs'

const project = fileURLToPath(new URL('..', import.meta.url))
const { exports, repository, homepage, bugs } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
const folder = join(project, '.pack-check')
const unpacked = join(folder, 'node_modules', 'axios-evergreen')

const SHIPPED = [
  'package.json',
  'README.md',
  'LICENSE',
  'llms.txt',
  'CHANGELOG.md',
  'SECURITY.md',
  'THIRD_PARTY_NOTICES.md',
]
/** The pages in the package: no pictures, and no evidence. */
const DOCS = /^docs\/([\w-]+\.md|(frameworks|migrating)\/[\w-]+\.md|operations\/[\w-]+\.(yml|json))$/
/**
 * gzip finds repetitions within 32 KB only, so both forms of the core, ESM and CommonJS, take 35 KB each. Four smaller files would save 11 KB of the
 * download, and add about a millisecond to the start of each process.
 */
const MOST_KB = 390
/** The target of links as long as package.json does not name the repository. */
const STAND_IN = 'https://github.com/somebody/axios-evergreen'
/** The entries of the package: `.`, `./oauth2` … */
const doors = Object.keys(exports).filter((name) => name !== './package.json')
/** An optional peer dependency of one entry only. */
const TELEMETRY = '@opentelemetry/api'
const BUILT = RegExp(
  `^dist/((cjs/)?((${Object.keys(entries).join('|')}|shared-[\\w-]+)\\.js|[\\w-]+\\.d\\.ts)|cjs/package\\.json|doctor\\.js|shared-[\\w-]+\\.browser\\.js)$`,
)
/** What each entry imports, in all its files: the dependencies of core, and those listed here. The CommonJS files contain those of core. */
const CORE = { '': ['async-mutex', 'p-retry'], 'cjs/': [] }
const BEYOND_CORE = { index: ['axios'], mcp: ['axios'], oauth2: ['axios'], opentelemetry: [TELEMETRY] }
const importedBy = (entry, format) => [...CORE[format], ...(BEYOND_CORE[entry] ?? [])].sort()
/** Helpers that only Node can use: builds for pages have their own versions. */
const OF_NODE = [/NO_PROXY/, /ECONNREFUSED/, /maxTotalSockets/, /AsyncResource/, /needs Node 20/]
/** Code that protects a secret. It is in every build, because a bundle for pages may run in Node (F366). */
const PROTECTION = [/getBuiltinModule/, /would send everything to that socket/, /its transport may follow redirects/]

// Without proxies, because the consumers talk to this machine only. Without the options of an npm that started this, such as a dry run.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/proxy$|^npm_|^FORCE_COLOR$/i.test(name)),
)
const tools = ['node_modules', 'scripts/package/node_modules'].map((folder) => join(project, folder, '.bin'))
Object.assign(env, { NO_COLOR: '1', PATH: [...tools, process.env.PATH].join(delimiter) })

if (check('npm pack, with the build', pack)) {
  check('publint', () => run('publint', ['run', tarball(), '--strict']))
  check('are the types wrong', () => run('attw', [tarball()]))
  check('the tarball holds what it should, and nothing else', checkContents)
  check(`the tarball has at most ${MOST_KB} KB`, checkWeight)
  check('the links of its pages lead somewhere', checkLinks)
  check('built again, with the packages of the build alone, it is the same', checkRebuilt)
  check('every build imports only what it may', checkImports)
  check('the JavaScript is ASCII without comments', checkText)
  check('stack traces name functions and classes', checkNames)
  check('the notices cover all code of others', checkNotices)
  check('the program', () => run('node', [join(unpacked, JSON.parse(manifest()).bin['axios-evergreen']), '--help']))
  check('ESM consumer', () => run('node', ['one-request.mjs']))
  check('CommonJS consumer', () => run('node', ['one-request.cjs']))
  for (const door of doors) check(`the entry ${door}, ESM and CommonJS`, () => enter(door))
  check('ESM and CommonJS consumer in one process', () => run('node', ['both-formats.mjs']))
  check('Jest consumer, CommonJS', () => run('jest', ['--ci', '--rootDir', '.']))
  check('esbuild consumer', () => {
    run('esbuild', ['one-request.mjs', '--bundle', '--platform=node', '--outfile=bundled.cjs'])
    run('node', ['bundled.cjs'])
  })
  check('Vite consumer', () => {
    run('vite', ['build'])
    run('node', [join('vite', 'one-request.mjs')])
  })
  // A file of the package that `browser` of package.json replaces must be in none of them.
  const page = ['page.mjs', '--bundle', '--external:axios', '--format=esm']
  check('esbuild, for a page', () => checkPage(run('esbuild', [...page, '--platform=browser'])))
  check('esbuild, for Node: the same text is there', () =>
    checkTexts(run('esbuild', [...page, '--platform=node']), [...OF_NODE, ...PROTECTION]),
  )
  check('Rolldown, for a page', () =>
    checkPage(run('rolldown', ['page.mjs', '--platform', 'browser', '--external', 'axios'])),
  )
  check('Vite, for a page', () => {
    run('vite', ['build', '--config', 'vite.page.mjs'])
    checkPage(readFileSync(join(folder, 'vite-page', 'page.mjs'), 'utf8'))
  })
  // Each compiles the request and the programs of all entries, with all declarations.
  check('TypeScript consumers, node16, ESM and CommonJS', () => compile(['mts', 'cts'], 'node16'))
  check('TypeScript consumers, nodenext, ESM and CommonJS', () => compile(['mts', 'cts'], 'nodenext'))
  check('TypeScript consumers, bundler', () => compile(['mts'], 'esnext', 'bundler'))
  check('TypeScript consumers, node10', () => compile(['cts'], 'commonjs', 'node10'))
}
const unnamed = Object.entries({ repository, homepage, bugs }).filter(([, value]) => value === undefined)
if (unnamed.length > 0) {
  const names = unnamed.map(([name]) => name).join(', ')
  console.log(
    `note  package.json lacks ${names}. A maintainer must fill them in before a release: npm run release:pack rejects it.`,
  )
}
finish()

function check(name, act) {
  const startedAt = performance.now()
  try {
    act()
    report(`${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
    return true
  } catch (error) {
    report(name, [error.message, error.stdout, error.stderr].filter(Boolean).join('\n'))
    return false
  }
}

function run(command, args, cwd = folder) {
  // A consumer that does not end has an open handle. The limit is long, because a busy machine is slow.
  return execFileSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 1_200_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function compile(extensions, module, moduleResolution = module) {
  const names = ['one-request', ...programs()]
  const files = extensions.flatMap((extension) => names.map((name) => `${name}.${extension}`))
  const options = { module, moduleResolution, target: 'es2022', lib: 'es2023', types: 'node' }
  if (moduleResolution === 'node10') options.ignoreDeprecations = '6.0'
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  run('tsc', ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', 'false', ...flags, ...files])
}

function pack() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(unpacked, { recursive: true })
  const where = repository === undefined ? ['--repository', STAND_IN] : []
  run('node', [join(project, 'scripts', 'package', 'pack.mjs'), '--to', folder, ...where], project)
  run('tar', ['-xzf', tarball(), '--strip-components=1', '-C', unpacked])

  // The folder has its own package.json: without one, `axios-evergreen` would mean the project around it, not the packed copy.
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "jest": { "transform": {} } }\n')
  cpSync(join(project, 'scripts', 'consumers'), folder, { recursive: true })
  const esm = readFileSync(join(folder, 'one-request.mjs'), 'utf8')
  const cjs = asCommonJs(esm)
  const ofPage = ['', '/dpop', '/fetch', '/login', '/oauth2', '/store', '/web', '/web/inspector']
  writeFileSync(join(folder, 'page.mjs'), ofPage.map((door) => `export * from 'axios-evergreen${door}'\n`).join(''))
  const forPage = {
    lib: { entry: 'page.mjs', formats: ['es'], fileName: 'page' },
    outDir: 'vite-page',
    rollupOptions: { external: ['axios'] },
  }
  writeFileSync(
    join(folder, 'vite.page.mjs'),
    `export default ${JSON.stringify({ build: forPage, logLevel: 'warn' })}\n`,
  )
  const vite = { build: { ssr: 'one-request.mjs', outDir: 'vite' }, ssr: { noExternal: true }, logLevel: 'warn' }
  writeFileSync(join(folder, 'vite.config.mjs'), `export default ${JSON.stringify(vite)}\n`)
  writeFileSync(join(folder, 'one-request.mts'), esm)
  writeFileSync(join(folder, 'one-request.cts'), esm)
  writeFileSync(join(folder, 'one-request.cjs'), cjs)
  for (const program of programs()) {
    const text = readFileSync(join(folder, `${program}.mjs`), 'utf8')
    for (const typed of ['mts', 'cts']) writeFileSync(join(folder, `${program}.${typed}`), text)
    writeFileSync(join(folder, `${program}.cjs`), asCommonJs(text))
  }
  writeFileSync(join(folder, 'one-request.test.cjs'), cjs.replace('void main()', "test('one request', main)"))
}

function asCommonJs(text) {
  return text.replace(/^import (.+) from (.+)$/gm, 'const $1 = require($2)')
}

/** The program of an entry: `./web/inspector` has `doors/web-inspector`. A new entry needs a new program. */
function programOf(door) {
  return join('doors', posix.relative('.', door).replaceAll('/', '-') || 'index')
}

/** The existing programs. `enter` reports which one is missing. */
function programs() {
  return doors.map(programOf).filter((program) => existsSync(join(folder, `${program}.mjs`)))
}

function enter(door) {
  assert.ok(programs().includes(programOf(door)), `add a minimal program: scripts/consumers/${programOf(door)}.mjs`)
  for (const extension of ['mjs', 'cjs']) run('node', [`${programOf(door)}.${extension}`])
}

function manifest() {
  return readFileSync(join(unpacked, 'package.json'), 'utf8')
}

function tarball() {
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  )
}

function checkContents() {
  const files = readdirSync(unpacked, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(unpacked, posix.join(entry.parentPath, entry.name)))
  assert.deepEqual(files.filter((name) => !BUILT.test(name) && !DOCS.test(name)).sort(), SHIPPED.toSorted())
}

function checkWeight() {
  const kb = statSync(tarball()).size / 1_000
  assert.ok(kb <= MOST_KB, `${kb.toFixed(0)} KB`)
}

function checkRebuilt() {
  const again = join(folder, 'again')
  mkdirSync(again)
  const where = repository === undefined ? ['--repository', STAND_IN] : []
  run('node', [join(project, 'scripts', 'release', 'rebuild.mjs'), '--to', again, ...where], project)
  assert.ok(readFileSync(join(again, basename(tarball()))).equals(readFileSync(tarball())), 'other bytes')
}

/**
 * A registry shows the README alone, so none of its links is relative. The guides need no repository, so that a plain `npm pack` packs them whole:
 * only their links to pictures may lead there, because the package has no pictures.
 */
function checkLinks() {
  const files = readdirSync(unpacked, { recursive: true }).map((name) => name.replaceAll('\\', '/'))
  for (const name of files.filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(unpacked, name), 'utf8').replace(/^```.*?^```/gms, '')
    const links = Array.from(
      text.matchAll(/\]\(([^)\s]*)\)|\b(?:src|srcset)="([^"]*)"/g),
      ([, link, other]) => link ?? other,
    )
    const relative = links.filter((link) => !/^([a-z]+:|#)/.test(link)).map((link) => link.split('#')[0])
    const folder = posix.dirname(name)
    const dead = relative.filter(
      (link) => name === 'README.md' || !files.includes(posix.join(folder, link).replace(/\/$/, '')),
    )
    assert.deepEqual(dead, [], name)
    const away = links.filter((link) => link.startsWith(`${repositoryOf({ repository }) ?? STAND_IN}/blob/`))
    if (name.startsWith('docs/')) assert.deepEqual(away, [], `${name} leads out of the package`)
  }
}

/** The JavaScript of the package, by its path below `dist`. */
function scripts() {
  return readdirSync(join(unpacked, 'dist'), { recursive: true }).filter((name) => name.endsWith('.js'))
}

/** No file imports what a user would not have, and the main entry loads in any runtime. */
function checkImports() {
  const ofProgram = readFileSync(join(unpacked, 'dist', 'doctor.js'), 'utf8').matchAll(/^import .*from "([^"]+)"/gm)
  const others = Array.from(ofProgram, ([, from]) => from).filter((from) => !from.startsWith('node:'))
  assert.deepEqual(others.sort(), ['./index.js', './oauth2.js', './sqlite.js', 'axios'])
  for (const format of Object.keys(CORE)) {
    for (const entry of Object.keys(entries)) {
      const imported = [...importsOf(`${format}${entry}.js`)].sort()
      if (entry === 'testing')
        assert.ok(
          imported.every((name) => name.startsWith('node:')),
          imported.join(),
        )
      else assert.deepEqual(imported, importedBy(entry, format), `${format}${entry}`)
    }
  }
}

/** Comments slow down the start of each process. V8 stores a file with a single non-ASCII character at twice the size. */
function checkText() {
  for (const name of scripts()) {
    const text = readFileSync(join(unpacked, 'dist', name), 'utf8')
    assert.match(text, /^[\0-\x7f]*$/, `${name} is ASCII`)
    assert.doesNotMatch(text, /^\s*\/\*\*/m, `${name} has no docstrings`)
  }
}

/** Helpers of Node are in files that others replace, code that protects a secret stays, and only axios is imported: a page has no modules of Node. */
function checkPage(bundled) {
  checkTexts(bundled, [/attachBearer/, ...PROTECTION])
  for (const helper of OF_NODE) assert.doesNotMatch(bundled, helper)
  const imported = Array.from(bundled.matchAll(/^import\b.*?["']([^"']+)["']/gm), ([, from]) => from)
  assert.deepEqual([...new Set(imported)], ['axios'])
}

function checkTexts(bundled, texts) {
  for (const text of texts) assert.match(bundled, text)
}

/** The names of local variables are shortened, and those of functions and classes are not. */
function checkNames() {
  const program = (load) =>
    `${load}.then(({ createTokenManager }) => createTokenManager({ source: 1 })).catch((e) => console.log(e.stack))`
  for (const load of ["import('axios-evergreen')", "Promise.resolve(require('axios-evergreen'))"])
    assert.match(run('node', ['-e', program(load)]), /at checkedSource .*\n(?:.*\n)*.*at new Manager /, load)
}

/** What a file of dist imports, its shared chunks included. */
function importsOf(name, found = new Set()) {
  const text = readFileSync(join(unpacked, 'dist', name), 'utf8')
  for (const [, from] of text.matchAll(
    /(?:^(?:import |export |\} )(?:.*from )?|\b(?:import|require)\()["']([^"']+)["']/gm,
  )) {
    if (from.startsWith('./')) importsOf(posix.join(posix.dirname(name), from), found)
    else found.add(from)
  }
  return found
}

function checkNotices() {
  const notices = readFileSync(join(unpacked, 'THIRD_PARTY_NOTICES.md'), 'utf8')
  const built = scripts().map((name) => readFileSync(join(unpacked, 'dist', name), 'utf8'))
  const inside = new Set(
    Array.from(built.join('\n').matchAll(/^\/\/.* node_modules\/((?:@[^/]+\/)?[^/]+)/gm), (match) => match[1]),
  )
  assert.notEqual(inside.size, 0, 'the CommonJS build carries its dependencies')
  for (const name of inside) {
    const { version } = JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8'))
    const folder = join(project, 'node_modules', name)
    const licence = readFileSync(
      join(
        folder,
        readdirSync(folder).find((file) => /^licen[cs]e$/i.test(file)),
      ),
      'utf8',
    ).trim()
    assert.ok(notices.includes(`## ${name} ${version}\n\n${licence}\n`), `THIRD_PARTY_NOTICES.md: ${name} ${version}`)
  }
}
