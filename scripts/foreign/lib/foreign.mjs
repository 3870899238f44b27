import { finish, report } from '../../lib/checks.mjs'
import { COMMON, worksLater } from './common.mjs'
import { ORDERS, startWorld } from './world.mjs'

/** A guard against hanging, not a measure: nothing here takes a second. */
const LONGEST_MS = 10_000

/**
 * Runs the checks of one library, each in a world of its own, attached before the library and after it. Prints a line for each, and sets the
 * exit code.
 *
 * @param program `put(instance, world)` puts the library on the instance, and returns what its own `checks` need, with `request(config)` if
 * requests go another way than `instance.request`. `prepare(world)` runs before the instance is made, and may return `baseUrl` and
 * `transport`; `end(world)` cleans up. `isMock`: the library responds instead of the API. `adapters`: of axios; default: its own choice.
 */
export async function foreign(program) {
  const { library, adapters = [undefined], checks = {} } = program
  for (const adapter of adapters)
    for (const order of ORDERS) {
      const leaks = new Set()
      const label = [library, adapter && `${adapter} adapter`, order].filter(Boolean).join(', ')
      for (const [name, check] of Object.entries({ ...COMMON, ...checks })) {
        const world = await startWorld(program, order, adapter)
        const error = await outcomeOf(check, world)
        await world.end()
        report(`${label}: ${name}`, error)
        for (const leak of world.leaks) leaks.add(leak)
      }
      report(`${label}: no token is printed`, leaks.size > 0 ? [...leaks].join('\n') : undefined)
    }
  finish()
}

/** @returns What was wrong, as text; undefined if nothing was. */
async function outcomeOf(check, world) {
  let guard
  const hung = new Promise((resolve) => {
    guard = setTimeout(() => resolve(`hung: ${[...world.underWay].map(({ name }) => name)}`), LONGEST_MS)
  })
  const run = async () => {
    try {
      await check(world)
    } catch (error) {
      return reason(error)
    }
    try {
      await worksLater(world)
    } catch (error) {
      return `later: ${reason(error)}`
    }
    return undefined
  }
  const error = await Promise.race([run(), hung])
  clearTimeout(guard)
  return error
}

function reason(error) {
  const where = /\bforeign\/([\w./-]+:\d+):/.exec(error?.stack ?? '')?.[1]
  const text = String(error?.message ?? error)
    .split('\n')
    .slice(0, 14)
    .join('\n')
  return where ? `${text} (${where})` : text
}
