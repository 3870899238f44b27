// Test files that import the test files of a room. To load a file, with a module registry and a context of its own, takes longer than to run most of its tests.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const project = fileURLToPath(new URL('../..', import.meta.url))

/** What would disturb other tests of the same process: a proxy, changed globals, modules that are replaced, hooks for a whole file. */
const APART =
  /HTTP_PROXY|defineProperty\(globalThis|jest\.(mock|resetModules|isolateModules|useFakeTimers)|^((before|after)(Each|All)|behindNock)\(/m
/** From its import on, nock replaces fetch and `node:http`, so its tests share files only with one another. */
const NOCK = /from 'nock'|\/variant-b\.ts'/

/**
 * Writes the files. The rooms of few and long tests stay as they are.
 * @param {string} folder Where to, inside `coverage`.
 * @param {readonly string[]} names Paths of test files, such as `core/exchange.test.ts`.
 * @returns {string[]} What jest's `testMatch` takes: the files that were written, and the test files that stay apart.
 */
export function inRooms(folder, names) {
  const rooms = new Map()
  const apart = []
  for (const name of names) {
    const file = join(project, 'test', name)
    const text = readFileSync(file, 'utf8')
    const room = `${posix.dirname(name)}${NOCK.test(text) ? '-nock' : ''}`
    if (LONG.test(name) || APART.test(text)) apart.push(file)
    else rooms.set(room, [...(rooms.get(room) ?? []), file])
  }
  const to = join(project, 'coverage', folder)
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  return [...apart, ...Array.from(rooms, ([room, files]) => written(join(to, `${room}.test.ts`), files))]
}

function written(file, imported) {
  writeFileSync(file, imported.map((one) => `import ${JSON.stringify(one)}\n`).join(''))
  return file
}

const LONG = /^(exhaustive|figures|properties|faults)\/|^[^/]*$/

/** @returns {string[]} The test files of `test`, as paths inside it. */
export const testFiles = () =>
  readdirSync(join(project, 'test'), { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules/'))
