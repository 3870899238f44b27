// Runs an example: npm run example <name>. Those with a main file are bundled first, as a project of yours would be.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const examples = fileURLToPath(new URL('../examples', import.meta.url))
const INSTALLED = fileURLToPath(new URL('lib/installed.mjs', import.meta.url))
const [name = '', ...args] = process.argv.slice(2)
// The pages of frameworks are not programs.
const names = readdirSync(examples).filter((one) =>
  ['main.ts', 'main.mjs', `${one}.mjs`].some((file) => existsSync(join(examples, one, file))),
)
if (!names.includes(name)) {
  console.error(
    `${name === '' ? 'Which example?' : `There is no example '${name}'.`} npm run example <name>, one of:\n`,
  )
  for (const one of names) console.error(`  ${one}`)
  process.exit(1)
}

// Some need packages of their own.
if (existsSync(join(examples, name, 'package.json'))) execFileSync(process.execPath, [INSTALLED, `examples/${name}`])
const script = join(examples, name, `${name}.mjs`)
const file = existsSync(script) ? script : await translated(name)
// Runs in its own process, because some examples set exit codes and signal handlers.
const child = spawn(process.execPath, [file, ...args], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal))
child.once('exit', (code) => {
  if (file !== script) rmSync(file)
  process.exitCode = code ?? 1
})

async function translated(example) {
  const folder = join(examples, example)
  const file = join(folder, `.main-${process.pid}.mjs`)
  await build({
    input: existsSync(join(folder, 'main.ts')) ? join(folder, 'main.ts') : join(folder, 'main.mjs'),
    platform: 'node',
    tsconfig: false,
    transform: { decorator: { legacy: true } },
    // Packages are not bundled, except for helpers that the translation needs.
    external: (id) => /^[^./]/.test(id) && !/^(@oxc-project|axios-evergreen)/.test(id),
    // Resolved by its path: from a folder with a package.json of its own, Node would not find this package by its name.
    plugins: [
      {
        name: 'built',
        resolveId: (id) =>
          id.startsWith('axios-evergreen') ? { id: import.meta.resolve(id), external: true } : undefined,
      },
    ],
    output: { file, format: 'esm' },
    logLevel: 'warn',
  })
  return file
}
