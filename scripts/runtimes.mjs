// npm run test:runtimes: checks the built package in each runtime that runs axios. Some only: -- --only bun,workerd. To write
// the table of docs/works-with.md: -- --write.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { copyPackage, withoutProxies } from './lib/built.mjs'
import { finish, report } from './lib/checks.mjs'
import { markdownTable, syncTable } from './lib/pages.mjs'
import { freePort } from './lib/server-process.mjs'
import { nodeOf } from './matrix/downloads.mjs'

const project = fileURLToPath(new URL('..', import.meta.url))
const folder = join(project, 'scripts', 'runtimes')
const env = withoutProxies()

const RUNTIMES = {
  node20: () => onNode('20'),
  node22: () => onNode('22'),
  node24: () => onNode('24'),
  node26: () => onNode('26'),
  bun: () => onBinary('Bun', binary('@oven/bun-linux-x64/bin/bun'), ['lib/program.mjs']),
  deno: () =>
    onBinary('Deno', binary('@deno/linux-x64-glibc/deno'), [
      'run',
      '-A',
      '--node-modules-dir=manual',
      'lib/program.mjs',
    ]),
  workerd: onWorkerd,
}

const { only, write } = options()
copyPackage(folder)
const { startServices } = await import('./runtimes/lib/services.mjs')
const services = await startServices()
const rows = []
try {
  for (const name of only ?? Object.keys(RUNTIMES)) rows.push(await RUNTIMES[name]())
} finally {
  await services.close()
}

for (const { runtime, version, results } of rows)
  for (const { name, why } of results) report(`${runtime} ${version}: ${name}`, why)
const isGood = finish()
if (isGood && !only) {
  const cells = rows.map(({ runtime, version, results }) => [
    runtime,
    version,
    `${results.length} of ${results.length}`,
  ])
  const table = `${markdownTable([['runtime', 'version', 'checks passed'], ...cells])}\n\nWith axios ${versionOf('axios')}.`
  const state = await syncTable('docs/works-with.md', 'npm run test:runtimes', table, write)
  console.log(`\nThe table of docs/works-with.md is ${state}${state === 'outdated' ? ': run with -- --write' : ''}.`)
  if (state === 'outdated') process.exitCode = 1
}

function options() {
  const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
  const names = values.only?.split(',')
  const unknown = names?.filter((name) => !(name in RUNTIMES)) ?? []
  if (unknown.length > 0) throw new RangeError(`--only takes ${Object.keys(RUNTIMES).join()}: got ${unknown}`)
  return { only: names, write: values.write }
}

function binary(path) {
  return join(folder, 'node_modules', path)
}

function onNode(major) {
  const { version, file } = nodeOf(major)
  return programOn('Node', version, file, ['lib/program.mjs'])
}

function onBinary(runtime, file, args) {
  const [version] = /\d+\.\d+\.\d+/.exec(execFileSync(file, ['--version'], { encoding: 'utf8', env }))
  return programOn(runtime, version, file, args)
}

async function programOn(runtime, version, file, args) {
  const child = spawn(file, [...args, services.origin], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk) => (said += chunk))
  const [code, signal] = await new Promise((resolve) => child.once('close', (...how) => resolve(how)))
  const found = /^results: (.*)$/m.exec(said)
  if (code !== 0 || !found) throw new Error(`${runtime} ended with ${signal ?? code}: ${said}`)
  return { runtime, version, results: JSON.parse(found[1]) }
}

/** Bundles the library and axios into one file, as tools for workerd do. */
async function onWorkerd() {
  const home = mkdtempSync(join(tmpdir(), 'axios-evergreen-workerd-'))
  const file = binary('@cloudflare/workerd-linux-64/bin/workerd')
  const port = await freePort()
  await build({
    entryPoints: [join(folder, 'lib', 'worker.mjs')],
    outfile: join(home, 'worker.js'),
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    logLevel: 'error',
  })
  writeFileSync(join(home, 'config.capnp'), configOf(port))
  const child = spawn(file, ['serve', join(home, 'config.capnp')], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  try {
    const address = `http://127.0.0.1:${port}/?origin=${encodeURIComponent(services.origin)}`
    const results = await (await answerOf(address, child)).json()
    results.push(await sharedAmongRequests(`http://127.0.0.1:${port}/shared`))
    results.push(...(await registerChecks(home, `http://127.0.0.1:${port}/object`)))
    return { runtime: 'workerd', version: versionOf('workerd'), results }
  } finally {
    child.kill()
    rmSync(home, { recursive: true, force: true })
  }
}

function configOf(port) {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "2026-01-01",
      durableObjectNamespaces = [(className = "TokenObject", uniqueKey = "tokens")],
      durableObjectStorage = (inMemory = void),
      bindings = [(name = "TOKENS", durableObjectNamespace = "TokenObject")],
    )),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`
}

/** The checks of a register, with Durable Objects in workerd. */
async function registerChecks(home, address) {
  const outfile = join(home, 'register.mjs')
  const entryPoints = [join(project, 'examples', 'registers', 'durable-object.ts')]
  await build({ entryPoints, outfile, bundle: true, format: 'esm', logLevel: 'error' })
  const { durableObjectRegister } = await import(pathToFileURL(outfile).href)
  const { tokenRegisterChecks } = await import('axios-evergreen/testing')
  const objectOf = (key) => ({ fetch: (_, init) => fetch(`${address}?key=${encodeURIComponent(key)}`, init) })
  const namespace = { idFromName: (name) => name, get: objectOf }
  const results = []
  for (const { name, run } of tokenRegisterChecks(async () => ({ register: durableObjectRegister(namespace) }))) {
    const why = await run().then(
      () => undefined,
      (error) => String(error?.stack ?? error),
    )
    results.push({ name: `Durable Objects: ${name}`, why })
  }
  return results
}

/** Each request has a manager of its own; all managers use the memory store of the module. */
async function sharedAmongRequests(address) {
  const tokens = await Promise.all(Array.from({ length: 10 }, async () => (await fetch(address)).text()))
  const isOne = tokens.every((token) => token === 'shared-1')
  return { name: 'requests share a memory store', ...(!isOne && { why: `they got ${tokens.join()}` }) }
}

/** Asks again until workerd listens at the address. */
async function answerOf(address, child) {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`workerd ended with ${child.exitCode}`)
    try {
      return await fetch(address)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

function versionOf(name) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version
}
