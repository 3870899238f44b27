import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type * as main from '../../src/index.ts'
import type * as login from '../../src/login/index.ts'
import type * as postgres from '../../src/postgres/index.ts'
import type * as redis from '../../src/redis/index.ts'
import type * as store from '../../src/store/index.ts'
import type * as sqlite from '../../src/sqlite/sqlite-register.ts'
import { builtOnce } from './built-once.ts'

/** The package as one release of a program has it. Releases share no module. */
export type Code = Pick<typeof main, 'createTokenManager' | 'TokenError'> &
  Pick<typeof login, 'person'> &
  Pick<typeof postgres, 'postgresStore'> &
  Pick<typeof redis, 'redisStore'> &
  Pick<typeof store, 'sharedStore'> &
  Pick<typeof sqlite, 'sqliteRegister'>

/**
 * `now`: this code. `later`: this code with one more optional member in the record and in its token set, as the next release may have. It passes what it
 * reads to the global function `onRecord`. `from`: the code of the commit in `DEPLOYS_FROM`.
 */
export type State = 'now' | 'later' | 'from'

const FILE = 'src/store/record-text.ts'
/** What `later` changes in that file. */
const CHANGES = [
  [
    'JSON.stringify(state)',
    'JSON.stringify({ ...state, region: 1, tokens: state.tokens && { ...state.tokens, region: 1 } })',
  ],
  ['whole(state)', '(globalThis.onRecord?.(state), whole(state))'],
] as const

export async function codeOf(state: State): Promise<Code> {
  const folder = await builtOnce(`release-${state}-${process.env.DEPLOYS_FROM ?? ''}`, ['src', __filename], (dir) =>
    build(dir, state),
  )
  return createRequire(__filename)(join(process.cwd(), folder, 'index.cjs')) as Code
}

async function build(dir: string, state: State): Promise<void> {
  const root = join(dir, 'code')
  mkdirSync(root)
  if (state === 'from') {
    const archive = execFileSync('git', ['archive', process.env.DEPLOYS_FROM!, 'src'], { maxBuffer: Infinity })
    execFileSync('tar', ['-x', '-C', root], { input: archive })
  } else cpSync('src', join(root, 'src'), { recursive: true })
  if (state === 'later') change(join(root, FILE))
  const entry = join(root, 'entry.ts')
  const rooms = ['index', 'login/index', 'postgres/index', 'redis/index', 'sqlite/sqlite-register', 'store/index']
  writeFileSync(entry, rooms.map((name) => `export * from './src/${name}.ts'`).join('\n'))
  const rolldown = join('node_modules', 'rolldown', 'bin', 'cli.mjs')
  const output = ['--file', join(dir, 'index.cjs'), '--format', 'cjs', '--platform', 'node', '--external', 'axios']
  await promisify(execFile)(process.execPath, [rolldown, entry, ...output])
}

function change(file: string): void {
  let text = readFileSync(file, 'utf8')
  for (const [before, after] of CHANGES) {
    if (text.split(before).length !== 2) throw new Error(`${FILE} has changed: ${before}`)
    text = text.replace(before, after)
  }
  writeFileSync(file, text)
}
