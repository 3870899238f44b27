// Long runs of real parts under faults, which are too long for the tests: npm run soak -- SCENE [options]. A scene ends with a list of its promises; the exit
// code is 0 only if every promise was kept. The same `--seed` makes the same faults in the same order, but at other moments.
//   fleet    processes that share a store, killed and frozen: [--on PLACE …], see soak/fleet/scene.mjs
//   disturbances  one thing happens to a tab in the middle of a renewal: [--engine chromium] [--rounds 50] …, see soak/disturbances/scene.mjs
//   tabs     tabs of Chromium, Firefox and WebKit that share a login: [--engine chromium] [--rounds 30] [--seconds 40] …, see soak/tabs/scene.mjs
//   years    weeks of one process in virtual time: [--days 30] [--users 20], see soak/years/scene.mjs
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

/**
 * A scene has `options` (the default of each; `Number`, `String` or `Boolean`: optional, without a default), `least` (the smallest number of an
 * option; else 0) and `run`, which yields promises: `[isKept, what]`.
 */
const SCENES = {
  fleet: () => import('./soak/fleet/scene.mjs'),
  tabs: () => inBrowsers(() => import('./soak/tabs/scene.mjs')),
  years: () => import('./soak/years/scene.mjs'),
  disturbances: () => inBrowsers(() => import('./soak/disturbances/scene.mjs')),
}
const [name, ...args] = process.argv.slice(2)
if (!Object.hasOwn(SCENES, name ?? '')) throw new RangeError(`Name a scene: ${Object.keys(SCENES).join(', ')}`)
const { options, least = {}, run } = await SCENES[name]()
const settings = given({ ...options, seed: Math.floor(Math.random() * 2 ** 31) })
// On exit, all processes that a scene has started are killed, frozen or not.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

console.log(
  `Soak of axios-evergreen, ${name}: seed ${settings.seed}; Node ${process.version}, ${availableParallelism()} cores.`,
)
const kept = []
try {
  for await (const promises of run(settings))
    for (const [isKept, what] of promises) {
      console.log(`  ${isKept ? 'kept  ' : 'BROKEN'}  ${what.trim()}`)
      kept.push(isKept)
    }
} catch (error) {
  // Here, because a scene may listen for uncaught errors.
  console.error(error)
  kept.push(false)
}
const isGood = kept.length > 0 && kept.every(Boolean)
console.log(`\n${isGood ? 'Everything held.' : 'BROKEN: see above.'} Again: --seed ${settings.seed}`)
process.exit(isGood ? 0 : 1)

function inBrowsers(scene) {
  execFileSync(process.execPath, ['scripts/lib/installed.mjs', 'test'], { stdio: 'inherit' })
  return scene()
}

function given(options) {
  const types = Object.entries(options).map(([name, usual]) => [
    name,
    { type: usual === Boolean ? 'boolean' : 'string' },
  ])
  const { values } = parseArgs({ args, options: Object.fromEntries(types) })
  return Object.fromEntries(Object.entries(options).map(([name, usual]) => [name, valueOf(name, usual, values[name])]))
}

function valueOf(name, usual, value) {
  if (value === undefined) return typeof usual === 'function' ? undefined : usual
  if (usual !== Number && typeof usual !== 'number') return value
  const number = Number(value)
  const from = least[name] ?? 0
  if (Number.isInteger(number) && number >= from) return number
  throw new RangeError(`--${name} must be a whole number from ${from} on, got ${value}`)
}
