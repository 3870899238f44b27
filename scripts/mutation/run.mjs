// npm run test:mutation -- ROOM … [--sample 100] [--seed 1] [--file NAME] [--only FILE:LINE,…] [--own] [--alone]: makes one small change at a time in a room of src, and runs the tests that reach
// it, in a process that has loaded them already. A change that no test notices survives, and is printed. `--sample 0`: all changes. `--only`: those
// of the sample on these lines, such as survivors. `--own`: by the tests of the room alone. `--alone`: how many changes only one test file notices,
// for each test file.
import { fork } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { slowTests } from '../../jest.config.mjs'
import { dice } from '../lib/dice.mjs'
import endServers from '../../test/support/postgres-teardown.mjs'
import findServers from '../../test/support/servers-setup.mjs'
import { inRooms, testFiles } from '../tests/rooms.mjs'
import { mutantsOf, switched } from './mutants.mjs'

const project = fileURLToPath(new URL('../..', import.meta.url))
process.chdir(project)
process.env.TESTS = 'fast' // for test/support/part.ts
/** Tests that run after those of the room with the change: those of another room, or one file. */
const NEIGHBOURS = {
  core: ['store', 'client', 'web'],
  record: ['store', 'core'],
  wire: ['oauth2', 'service', 'service/proxy', 'faults/proxies', 'core'],
  oauth2: ['dpop/token-calls', 'client', 'core'],
  client: ['fetch', 'dpop/requests', 'axios', 'faults/requests', 'core'],
  fetch: ['dpop/requests', 'client'],
  dpop: ['fetch', 'axios', 'oauth2'],
  axios: [
    ...['client', 'dpop/requests', 'fetch'],
    ...['api-redirects', 'interceptors', 'requests', 'connection', 'canary', 'stalls'].map((name) => `faults/${name}`),
  ],
  web: ['dpop/dpop-key', 'store', 'core'],
  // Slow tests, which need packages or servers: node scripts/lib/installed.mjs --tests.
  mcp: ['mcp/discovery', 'mcp/mcp-login', 'mcp/one-page'],
  redis: [
    ...['redis-store', 'clients', 'garbage', 'epoch', 'outage', 'trouble', 'sharing', 'logins'].map(
      (name) => `redis/${name}`,
    ),
    ...['store/commands', 'store/registers'],
  ],
  postgres: [
    ...['postgres-register', 'postgres-store', 'postgres-library', 'epoch', 'trouble', 'silence'].map(
      (name) => `postgres/${name}`,
    ),
    'store/registers',
  ],
  sqlite: ['sqlite-store', 'file', 'copies', 'lock', 'places'].map((name) => `sqlite/${name}`),
}
/** The share of changes that some test must notice. */
const LEAST = 0.9
/** A test that reports nothing for so long hangs, ms. The machine may be busy. */
const LIMIT_MS = 8_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    own: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
  },
})
async function measure(room) {
  // Bundles look for packages in the folder of the project: some tests use those of test/package.json.
  process.env.NODE_PATH = resolve('test', 'node_modules')
  const startedAt = performance.now()
  const all = sourcesOf(room).flatMap((file) => mutantsOf(file, readFileSync(file, 'utf8')))
  const drawn = sampleOf(all, Number(values.sample))
    .filter(isWanted)
    .map((mutant, n) => ({ ...mutant, id: n + 1, isMet: false, noticedIn: new Set() }))
  console.log(`src/${room}: ${all.length} changes, ${drawn.length} drawn`)
  const left = new Set(drawn)
  for (const file of groupsOf(room)) {
    if (left.size === 0) break
    await meetGroup(file, left)
  }
  const atLoad = drawn.filter(({ isAtLoad, isMet }) => isAtLoad && !isMet)
  for (const mutant of atLoad) left.delete(mutant)
  const counted = drawn.length - atLoad.length
  if (values.alone) for (const mutant of left) if (tellAlone(mutant)) left.delete(mutant)
  for (const { file, line, from, kind, to, isMet } of left)
    console.log(
      `${isMet ? 'survived' : 'not reached'}: ${file}:${line}  ${short(from)}  ->  ${kind === 'value' || to ? short(to) : `no ${kind}`}`,
    )
  if (values.alone) console.table(Object.fromEntries([...alone].sort(([, one], [, other]) => other - one)))
  const noticed = counted - left.size
  if (noticed < LEAST * counted) process.exitCode = 1
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  console.log(
    `${room}: ${noticed} of ${counted} noticed, ${((100 * noticed) / counted).toFixed(1)} % (${atLoad.length} at load, not run), ${seconds} s\n`,
  )
}

/** For each test file that has met a change: how many it alone noticed. */
const alone = new Map()

function tellAlone({ file, line, from, to, noticedIn: [only] }) {
  if (only === undefined) return false
  alone.set(only, alone.get(only) + 1)
  console.log(`${only} alone: ${file}:${line}  ${short(from)}  ->  ${short(to)}`)
  return true
}

const short = (text) => text.replaceAll(/\s+/g, ' ').slice(0, 90)

function sourcesOf(room) {
  const files = readdirSync(join('src', room), { recursive: true }).map((name) => join('src', room, name))
  return files
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.browser.ts') && name.includes(values.file))
    .sort()
}

const only = values.only === '' ? [] : values.only.split(',')
const isWanted = ({ file, line }) => only.length === 0 || only.some((one) => `${file}:${line}`.endsWith(one))

/** Draws the same sample for the same sources and seed. */
function sampleOf(all, size) {
  if (size === 0 || size >= all.length) return all
  const { random } = dice(Number(values.seed))
  const chosen = new Set()
  while (chosen.size < size) chosen.add(Math.floor(random() * all.length))
  return all.filter((_, n) => chosen.has(n))
}

/** Bundles, one after another: the room's own tests, those that stay apart, the same of its neighbours. */
function groupsOf(room) {
  const isFast = (name) => !slowTests.includes(`<rootDir>/test/${name}`)
  return [room, ...((values.own ? undefined : NEIGHBOURS[room]) ?? [])].flatMap((one) => {
    if (one.includes('/')) return resolve('test', `${one}.test.ts`)
    const names = testFiles().filter((name) => name.startsWith(`${one}/`) && isFast(name))
    return inRooms(join('mutation', one), names).reverse()
  })
}

async function bundled(file, mutants) {
  const outfile = resolve('node_modules/.cache/evergreen-mutation', `${file.replaceAll(/\W+/g, '-')}.cjs`)
  await build({
    stdin: {
      contents: `import ${JSON.stringify(resolve('test/support/tripwires.ts'))}\nimport ${JSON.stringify(file)}`,
      resolveDir: project,
    },
    outfile,
    bundle: true,
    ignoreAnnotations: true,
    keepNames: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'error',
    plugins: [{ name: 'mutants', setup: (build) => plugged(build, mutants) }],
  })
  return outfile
}

/** Modules of ESM alone are part of the bundle, as jest transforms them. */
const INSIDE = /^(p-retry|is-network-error|openid-client|oauth4webapi|jose|axios-retry|is-retry-allowed)$/

function plugged(build, mutants) {
  build.onResolve({ filter: /^[^./]/ }, ({ path }) => {
    if (path === '@jest/globals') return { path: resolve('scripts/mutation/globals.cjs'), external: true }
    if (path === 'axios-evergreen') return { path: resolve('src/index.ts') }
    return INSIDE.test(path) ? undefined : { path, external: true }
  })
  build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
    const name = relative(project, path)
    const here = mutants.filter(({ file }) => file === name)
    return { loader: 'ts', contents: switched(name, readFileSync(path, 'utf8'), here) }
  })
}

async function meetGroup(file, left) {
  const bundle = await bundled(file, [...left])
  let worker = await started(bundle)
  if (!worker) return console.log(`  ${relative(project, file)}: needs jest`)
  const { survey, atLoad } = await worker.ask({}, () => LIMIT_MS * 10)
  const sound = survey.flatMap(({ error }, index) => (error === undefined ? [index] : []))
  const bad = survey.filter(({ error }) => error !== undefined)
  if (process.env.SHOW) for (const { name, error } of bad) console.log(`  not used: ${name}\n${error}`)
  console.log(`  ${relative(project, file)}: ${sound.length} tests${bad.length > 0 ? `, ${bad.length} need jest` : ''}`)
  // A scope of a room has the name of its test file.
  const fileOf = (n) => /^\S+\.test\.ts(?= )/.exec(survey[n].name)?.[0] ?? relative(resolve('test'), file)
  if (values.alone) for (const n of sound) alone.set(fileOf(n), alone.get(fileOf(n)) ?? 0)
  /** @returns The test that notices it, or in which it hangs. */
  const noticedBy = async (mutant, tests) => {
    let found = await worker.ask({ mutant: mutant.id, tests }, limitOf)
    if (found.isSpoilt) {
      // What failed may have failed for an earlier mutant.
      worker.end()
      worker = await started(bundle)
      found = await worker.ask({ mutant: mutant.id, tests }, limitOf)
    }
    if (found.isDead || found.isSpoilt) {
      worker.end()
      worker = await started(bundle)
    }
    return found.isDead ? (found.at ?? tests[0]) : found.noticedBy
  }
  const limitOf = (index) => LIMIT_MS + 20 * (survey[index]?.ms ?? 0)
  for (const mutant of left) {
    mutant.isAtLoad ||= atLoad.includes(mutant.id)
    const tests = sound.filter((index) => survey[index].hits.includes(mutant.id))
    if (tests.length === 0) continue
    mutant.isMet = true
    // Short tests first. The others keep their order, so that those of a scope stay together.
    let ordered = [...tests.filter((n) => survey[n].ms < 50), ...tests.filter((n) => survey[n].ms >= 50)]
    while (left.has(mutant) && (ordered = ordered.filter((n) => !mutant.noticedIn.has(fileOf(n)))).length > 0) {
      const by = await noticedBy(mutant, ordered)
      if (by === undefined) break
      mutant.noticedIn.add(fileOf(by))
      if (!values.alone || mutant.noticedIn.size > 1) left.delete(mutant)
    }
  }
  worker.end()
}

/** Starts a process. `ask` resolves to its reply, or to `isDead` if it ends, or is silent for longer than its limit. Some need jest to load. */
async function started(bundle) {
  const child = fork('scripts/mutation/worker.cjs', [bundle], {
    stdio: ['ignore', 'ignore', process.env.SHOW ? 'inherit' : 'ignore', 'ipc'],
    execArgv: ['--max-old-space-size=1500'],
  })
  const next = (limitOf, message) =>
    new Promise((resolve) => {
      let timer
      const settle = (answer) => {
        clearTimeout(timer)
        child.off('message', hear).off('exit', leave)
        resolve(answer)
      }
      let at
      const watch = (index) => {
        at = index
        clearTimeout(timer)
        timer = setTimeout(leave, limitOf(index))
      }
      const hear = (told) => (told.at === undefined ? settle(told) : watch(told.at))
      const leave = () => settle({ isDead: true, at })
      child.on('message', hear).on('exit', leave)
      watch()
      if (message) child.send(message)
    })
  const ready = await next(() => LIMIT_MS * 10)
  if (!ready.isReady) return undefined
  const end = () => {
    // The process then ends its servers. One that hangs cannot.
    if (child.connected) child.disconnect()
    setTimeout(() => child.kill('SIGKILL'), 1_000)
  }
  return { ask: (message, limitOf) => next(limitOf, message), end }
}

if (positionals.includes('redis') || positionals.includes('postgres')) findServers()
for (const room of positionals) await measure(room)
endServers()
