// Replaces @jest/globals: the same expect, mocks and tables, for tests that run again and again in one process.
const { bind } = require('jest-each')
const { expect } = require('expect')
const { ModuleMocker } = require('jest-mock')
const { ModernFakeTimers } = require('@jest/fake-timers')

const HOOKS = ['beforeAll', 'beforeEach', 'afterEach', 'afterAll']
const scopeIn = (parent, name) => ({
  parent,
  name,
  hits: new Set(),
  ...Object.fromEntries(HOOKS.map((hook) => [hook, []])),
})
const root = scopeIn(undefined, '')
const tests = []
let scope = root

function describe(name, define) {
  scope = scopeIn(scope, `${scope.name}${name} `)
  define()
  scope = scope.parent
}
const it = (name, run) => void tests.push({ name: scope.name + name, run, scope })
const skip = Object.assign(() => undefined, { each: () => () => undefined })
const hooks = Object.fromEntries(HOOKS.map((hook) => [hook, (run) => void scope[hook].push(run)]))
const mocker = new ModuleMocker(globalThis)
const jest = Object.fromEntries(
  ['fn', 'spyOn', 'replaceProperty', 'restoreAllMocks', 'mocked'].map((name) => [name, mocker[name]?.bind(mocker)]),
)
const timers = new ModernFakeTimers({ config: { rootDir: process.cwd(), fakeTimers: {} }, global: globalThis })
for (const name of [
  'useFakeTimers',
  'useRealTimers',
  'advanceTimersByTime',
  'advanceTimersByTimeAsync',
  'getTimerCount',
])
  jest[name] = timers[name].bind(timers)
// Packages alone: what is bundled has no file to load again.
jest.requireActual = (name) => require(name)

// Which mutant is in effect, and which ones a test has met.
let active = 0
let met = root.hits
globalThis.__mutant = (id) => {
  met.add(id)
  return id === active
}

const chainOf = (one) => (one ? [...chainOf(one.parent), one] : [])
/** The scopes whose `beforeAll` has run. */
let open = []

async function enter(chain) {
  while (open.length > 0 && !chain.includes(open.at(-1))) for (const hook of open.pop().afterAll) await hook()
  for (const one of chain.slice(open.length)) {
    open.push(one)
    met = one.hits
    for (const hook of one.beforeAll) await hook()
  }
}

/** @returns {Promise<{ error?: unknown, hits: number[], ms: number }>} */
async function run(index, mutant) {
  const test = tests[index]
  const chain = chainOf(test.scope)
  const errors = []
  const own = new Set()
  const startedAt = performance.now()
  const attempt = async (what) => {
    try {
      await what()
    } catch (error) {
      errors.push(error ?? 'nothing')
    }
  }
  active = mutant
  await attempt(async () => {
    await enter(chain)
    met = own
    for (const one of chain) for (const hook of one.beforeEach) await hook()
    await test.run()
  })
  for (const one of chain.toReversed()) for (const hook of one.afterEach.toReversed()) await attempt(hook)
  mocker.restoreAllMocks()
  active = 0
  const hits = new Set([own, ...chain.slice(1).map((one) => one.hits)].flatMap((one) => [...one]))
  return { error: errors[0], hits: [...hits], ms: performance.now() - startedAt }
}

module.exports = {
  ...hooks,
  expect,
  jest,
  describe: Object.assign(describe, { each: bind(describe, false), skip }),
  it: Object.assign(it, { each: bind(it), skip }),
  test: it,
  running: { tests, run, atLoad: () => [...root.hits] },
}
