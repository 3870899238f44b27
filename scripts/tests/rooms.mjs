// Test files that import the test files of a room. Loading a file, with a module registry and a context of its own, takes longer than running most of
// its tests.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const project = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Signs of a test that would disturb others of the same process, or be disturbed: a proxy, changed globals, warnings that a process gives once,
 * modules that are replaced.
 */
const APART =
  /HTTP_PROXY|defineProperty\(globalThis|globalAgent = |emitWarning|jest\.(mock|resetModules|isolateModules|useFakeTimers)/
/** A module that tests import, and which cleans up after each of them. */
const HOOKS = /^((before|after)(Each|All)|behindNock)\(/m
/** From its import on, nock replaces fetch and `node:http`, so its tests share files only with one another, unless they end it. */
const NOCK = /from 'nock'|\/variant-b\.ts'/

/**
 * Writes the files. Hooks and tests of a test file stay in a scope of its own, named by the file.
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
    const isNock = NOCK.test(text)
    const room = `${posix.dirname(name).replace('.', 'documents')}${isNock ? '-nock' : ''}`
    if (APART.test(text) || (isNock && HOOKS.test(text))) apart.push(file)
    else rooms.set(room, [...(rooms.get(room) ?? []), name])
  }
  const to = join(project, 'coverage', folder)
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  return [...apart, ...Array.from(rooms, ([room, files]) => written(join(to, `${room}.test.ts`), files))]
}

function written(file, names) {
  const imported = new Set()
  const scopes = names.map((name) => {
    const path = join(project, 'test', name)
    follow(path, imported)
    return `describe(${JSON.stringify(name)}, () => void require(${JSON.stringify(path)}))\n`
  })
  const hooked = [...imported].filter((path) => !path.endsWith('.test.ts') && HOOKS.test(readFileSync(path, 'utf8')))
  const imports = hooked.map((path) => `import ${JSON.stringify(path)}\n`)
  writeFileSync(file, `import { describe } from '@jest/globals'\n${imports.join('')}${scopes.join('')}`)
  return file
}

/** Adds a test file and all modules of `test` that it imports. */
function follow(path, imported) {
  if (imported.has(path) || !path.startsWith(join(project, 'test')) || !existsSync(path)) return
  imported.add(path)
  for (const [, name] of readFileSync(path, 'utf8').matchAll(/from '(\.[^']+\.ts)'/g))
    follow(join(dirname(path), name), imported)
}

/** @returns {string[]} The test files of `test`, as paths inside it. */
export const testFiles = () =>
  readdirSync(join(project, 'test'), { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules/'))
