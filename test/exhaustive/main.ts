import { judgeEnd } from './ending.ts'
import { PLACES } from './reached.ts'
import { explore } from './search.ts'
import { LARGE_SCOPES, LIMIT, NO_EPOCH, SMALL_SCOPES } from './scopes.ts'
import type { Scope } from './scope.ts'
import { makeDeterministic, World } from './world.ts'

// scripts/explore.mjs runs this as a process. Arguments: names small|large, places, scope|plain <limit> <end> <names>, schedule <name> <choices>
makeDeterministic()
const [, , what, first = '', ...more] = process.argv
/** Epoch ms: a search that lasts longer is cut. */
const [endAt, ...wanted] = more
if (what === 'names') {
  const scopes = first === 'small' ? SMALL_SCOPES : LARGE_SCOPES
  console.log(JSON.stringify(scopes.map((scope) => scope.name)))
} else if (what === 'places') console.log(JSON.stringify(PLACES))
else if (what === 'schedule') await show(scopeOf(first), JSON.parse(more[0] ?? '[]') as string[])
else
  for (const name of wanted)
    console.log(
      JSON.stringify(await explore({ ...scopeOf(name), isPlain: what === 'plain' }, Number(first), Number(endAt))),
    )

function scopeOf(wanted: string): Scope {
  const scope = [...SMALL_SCOPES, ...LARGE_SCOPES, LIMIT, NO_EPOCH].find((one) => one.name === wanted)
  if (!scope) throw new Error(`There is no scope '${wanted}'`)
  return scope
}

async function show(scope: Scope, schedule: readonly string[]): Promise<void> {
  const world = await World.begin(scope)
  for (const choice of schedule) {
    await world.act(choice)
    console.log(choice.padEnd(20), world.shown)
  }
  if (world.watch.violation === undefined && world.choices().length === 0) await judgeEnd(world)
  console.log(world.watch.violation ?? 'No violation')
}
