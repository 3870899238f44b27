import type { Owner, Told, Wish } from './owner.ts'
import type { World } from './world.ts'

/** Judges the end of a run: each caller knows how its wish ended, and when all is well again, each caller gets its wish. */
export async function judgeEnd(world: World): Promise<void> {
  // The owner that a fault may have affected comes last: it knows more than the others.
  const living = world.owners.filter((owner) => !owner.isCrashed).reverse()
  for (const owner of living) {
    for (const told of owner.told) world.watch.judge(owner, told)
    if (!owner.isDone) world.watch.fail('progress', `${owner.name} is stuck`)
  }
  await world.calm(5 * 60_000)
  if (world.scope.grant === 'login') await judgeLogin(world, living)
  else for (const wish of ['get', 'renew', 'get'] as const) for (const owner of living) await grants(world, owner, wish)
  const calls = world.calls.register
  await world.calm(10 * 60_000)
  if (world.calls.register > calls) world.watch.fail('I13', 'idle owners send commands')
}

/** How a caller is refused whose login has ended, or was replaced (F405). */
const OF_ANOTHER_LOGIN = ['ERR_LOGIN_REQUIRED', 'ERR_LOGIN_REPLACED']

/** A login of one owner reaches the others, without a token request. A reset is a logout for all. */
async function judgeLogin(world: World, living: readonly Owner[]): Promise<void> {
  const [first] = living
  if (!first) return
  // An owner that notices a loss only now gives the others time to write back what they have seen (R11).
  for (const owner of living) await grants(world, owner, 'get', ...OF_ANOTHER_LOGIN, 'ERR_STORE_UNAVAILABLE')
  await world.calm(5 * 60_000)
  const access = await grants(world, first, 'login')
  await world.calm(2_000)
  const calls = world.calls.service
  for (const owner of living) {
    // A caller that comes before its owner has found the login belongs to the previous login (R10).
    const first = await grants(world, owner, 'get', ...OF_ANOTHER_LOGIN)
    const token = first ?? (await grants(world, owner, 'get'))
    if (token !== access || world.calls.service > calls)
      world.watch.fail('login', `${owner.name} does not adopt the tokens of a login`)
  }
  for (const owner of living) await grants(world, owner, 'renew')
  for (const wish of ['orders', 'stock'] as const)
    if (world.scope.owners.flat().includes(wish)) for (const owner of living) await grants(world, owner, wish)
  await asks(world, first, 'reset')
  await world.calm(5 * 60_000)
  for (const owner of living)
    if ((await asks(world, owner, 'get'))?.error !== 'ERR_LOGIN_REQUIRED')
      world.watch.fail('login', `${owner.name} has a token after a logout`)
}

/** @returns How the wish ended; undefined if it did not. */
async function asks(world: World, owner: Owner, wish: Wish): Promise<Told | undefined> {
  let told: Told | undefined
  const isServed = wish === 'get' && owner.isServed
  await world.tell(() => {
    void owner.ask(wish).then((ended) => (told = ended))
    return owner
  })
  if (isServed && !told) world.watch.fail('I9', `${owner.name} waits although its token serves`)
  for (let actions = 0; actions < 200 && !told; actions += 1) await world.goOn()
  return told
}

/** @param mayFail The codes of acceptable errors. @returns The token. */
async function grants(world: World, owner: Owner, wish: Wish, ...mayFail: string[]): Promise<string | undefined> {
  const told = await asks(world, owner, wish)
  const { token, error } = told ?? {}
  const fail = (how: string) => world.watch.fail('progress', `when all is well again, ${owner.name} ${how}`)
  if (!told) fail('waits for ever')
  else if (token === undefined && !mayFail.includes(error ?? '')) fail(`gets ${error} for ${wish}`)
  else if (token !== undefined && wish === 'renew' && world.remainingMs(token) <= 0) fail('gets a token that has ended')
  return token
}
