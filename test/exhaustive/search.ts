import { judgeEnd } from './ending.ts'
import { hashOf } from './hash.ts'
import { reachedPlaces } from './reached.ts'
import type { Scope } from './scope.ts'
import { World } from './world.ts'

export interface Found {
  readonly scope: string
  /** How many runs were made, each from the beginning. */
  readonly schedules: number
  /** Distinct states in which the search had a choice. */
  readonly states: number
  /** Distinct states in which a run ended. */
  readonly ends: number
  /** Distinct records that a run left in the register. */
  readonly records: number
  /** Represents the set of these records. */
  readonly recordsHash: string
  readonly seconds: number
  /** The search stopped before it had tried everything. */
  readonly isCut: boolean
  /** The places that the search has reached (`reached.ts`). */
  readonly reached: readonly string[]
  readonly violation?: { readonly what: string; readonly schedule: readonly string[] }
}

interface Branch {
  readonly choices: readonly string[]
  taken: number
}

/**
 * Tries every order of events, depth first. Each run starts over, follows a list of choices, and then always takes the
 * first choice. The next run replaces the last choice that has an alternative. No choice in a state is followed twice: a state that is
 * reached again, after another action, may have a few more choices.
 */
export async function explore(scope: Scope, limit = Infinity, endAt = Infinity): Promise<Found> {
  const begun = performance.now()
  const seen = new Map<string, string>()
  const records = new Set<string>()
  const path: Branch[] = []
  let schedules = 0
  let ends = 0
  const found = (isCut: boolean, violation?: Found['violation']): Found => ({
    scope: scope.name,
    schedules,
    states: seen.size,
    ends,
    records: records.size,
    recordsHash: hashOf([...records].sort().join()),
    seconds: Math.round(performance.now() - begun) / 1_000,
    isCut,
    reached: reachedPlaces(),
    ...(violation && { violation }),
  })
  do {
    if (schedules >= limit || performance.timeOrigin + performance.now() >= endAt) return found(true)
    schedules += 1
    const { what, isEnd } = await run(scope, path, seen, records)
    if (isEnd) ends += 1
    if (what !== undefined) return found(true, { what, schedule: path.map(({ choices, taken }) => choices[taken]!) })
  } while (takeNext(path))
  return found(false)
}

async function run(
  scope: Scope,
  path: Branch[],
  seen: Map<string, string>,
  records: Set<string>,
): Promise<{ what: string | undefined; isEnd: boolean }> {
  const world = await World.begin(scope)
  for (let depth = 0; ; depth += 1) {
    const choices = world.choices()
    if (choices.length === 0) break
    if (depth > MOST_ACTIONS) return { what: 'progress: a run does not end', isEnd: false }
    if (depth === path.length) {
      const more = unfollowed(choices, hashOf(world.key), seen)
      if (more.length === 0) return { what: undefined, isEnd: false }
      path.push({ choices: more, taken: 0 })
    }
    const { taken } = path[depth]!
    await world.act(choices[taken]!)
    if (world.watch.violation !== undefined) return { what: world.watch.violation, isEnd: false }
  }
  const key = hashOf(`end ${world.endKey}`)
  const isEnd = !seen.has(key)
  seen.set(key, '')
  if (isEnd) records.add(hashOf(world.record))
  if (isEnd) await judgeEnd(world)
  return { what: world.watch.violation, isEnd }
}

const MOST_ACTIONS = 300

/** @returns The choices in a state that no run has followed there. From now on they count as followed. */
function unfollowed(choices: readonly string[], key: string, seen: Map<string, string>): readonly string[] {
  const followed = seen.get(key)
  if (followed === undefined) {
    seen.set(key, choices.join())
    return choices
  }
  const known = new Set(followed.split(','))
  const more = choices.filter((choice) => !known.has(choice))
  if (more.length > 0) seen.set(key, [followed, ...more].join())
  return more
}

/** @returns Whether there is another run. */
function takeNext(path: Branch[]): boolean {
  for (let last = path.at(-1); last; last = path.at(-1)) {
    last.taken += 1
    if (last.taken < last.choices.length) return true
    path.pop()
  }
  return false
}
