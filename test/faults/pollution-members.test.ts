import { expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { builtOnce } from '../support/built-once.ts'
import { BetterSqlite } from '../support/node-sqlite.ts'
import { part } from '../support/part.ts'
import { MEMBERS } from './support/attacker.ts'

// All members, twelve at once: the gate takes each group with one keeper, at one moment; npx jest test/faults/pollution-members each with every keeper, at every
// moment. `NAMES=one,two` takes these, one by one.
const { NAMES } = process.env
const GROUP = 12
/** With one of these, what Node itself breaks is left out, so it is alone. */
const ALONE = ['signal', 'source', 'value']
const others = MEMBERS.filter((name) => !ALONE.includes(name))
const groups = Array.from({ length: Math.ceil(others.length / GROUP) }, (_, n) =>
  others.slice(n * GROUP, (n + 1) * GROUP).join('+'),
)
const given = NAMES?.split(',') ?? [...groups, ...ALONE]
const how = NAMES ? 'whole' : part('whole', 'turns')

const execute = promisify(execFile)

/** @returns The folder with the package in one file, and with the program that lives with it. */
const built = () =>
  builtOnce('polluted', ['src', 'tools', 'test/faults/support', 'test/support'], async (folder) => {
    const external = ['axios', 'async-mutex', 'p-retry'].map((name) => `--external:${name}`)
    const entries = ['package', 'main'].map((name) => `test/faults/support/polluted-${name}.ts`)
    const options = ['--bundle', '--format=esm', '--platform=node', `--outdir=${folder}`, '--out-extension:.js=.mjs']
    await execute(join('node_modules', '.bin', 'esbuild'), [...entries, ...options, ...external])
  })

it("when Object.prototype has a member of the record, a change, a view, a lease, a report or a context, with the attacker's whole object, before the package is loaded or after, then nothing is different (F402)", async () => {
  const folder = await built()
  const address = pathToFileURL(join(folder, 'polluted-package.mjs')).href
  const sqlite = BetterSqlite ? join(__dirname, '../sqlite/node_modules/better-sqlite3') : ''
  const half = (of: 0 | 1) => given.filter((_, n) => n % 2 === of).join()
  const outcomes = await Promise.all(
    [half(0), half(1)]
      .filter((some) => some !== '')
      .map((some) =>
        execute(process.execPath, ['--no-warnings', join(folder, 'polluted-main.mjs'), address, sqlite, how, some], {
          maxBuffer: 1e8,
        }),
      ),
  )
  // The last line of a program that came to its end.
  const ended = expect.stringMatching(/^[1-9]\d* lives\n$/)
  expect(outcomes.map(({ stdout }) => stdout)).toEqual(outcomes.map(() => ended))
  expect(MEMBERS.length).toBeGreaterThan(300)
  expect(MEMBERS).toEqual(expect.arrayContaining(['state', 'tokens', 'context', 'isPrivate']))
}, 7_200_000)
