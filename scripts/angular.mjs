// npm run test:angular: Angular's own CLI builds the page of docs/frameworks.md#angular, with zone.js and without.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyPackage } from './lib/built.mjs'

const project = fileURLToPath(new URL('..', import.meta.url))
const folder = join(project, 'scripts', 'angular')
const pages = join(project, 'examples', 'pages')
const copies = join(folder, 'app', 'copies')

// Copied, because the files find the CLI's Angular only below this folder.
rmSync(copies, { recursive: true, force: true })
mkdirSync(join(copies, 'angular'), { recursive: true })
cpSync(join(pages, 'tokens.ts'), join(copies, 'tokens.ts'))
for (const name of ['session.ts', 'home.ts']) cpSync(join(pages, 'angular', name), join(copies, 'angular', name))
copyPackage(folder)

const failed = ['zoneless', 'zone'].filter((name) => {
  const startedAt = performance.now()
  const { status } = spawnSync('npx', ['ng', 'build', name], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s`)
  return status !== 0
})
rmSync(copies, { recursive: true })
process.exitCode = failed.length === 0 ? 0 : 1
