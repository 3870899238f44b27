// Weeks of one process in virtual time, with drawn faults: heap, timers and listeners stay flat. [--days 30] [--users 20]. Needs `node --expose-gc`, which it
// starts by itself.
import { getEventListeners, setMaxListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { manualClock } from '../../../dist/testing.js'
import { dice as draws } from '../../lib/dice.mjs'
import { Register, Service, storesOn, User } from './world.mjs'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

export const options = { days: 30, users: 20 }
export const least = { days: 6, users: 4 }

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

export async function* run({ days, users: count, seed }) {
  const world = worldOf(seed)
  const users = Array.from({ length: count }, (_, n) => userOf(world, n))
  adoptAll(users)
  const rows = []
  for (let day = 1; day <= days; day += 1) {
    await oneDay(world, users)
    rows.push(await measured(world))
    console.log(`  day ${day}: ${JSON.stringify(rows.at(-1))}`)
  }
  const { served, failed, events, warnings, service } = world
  console.log(JSON.stringify({ served, failed, tokenRequests: service.calls, events }))
  for (const user of users) void user.end()
  await world.clock.advance(MINUTE)
  const left = await measured(world)
  yield [...flat(rows), ...nothingLeft(left), [warnings.length === 0, `Node warned of nothing (${warnings})`]]
}

function worldOf(seed) {
  const dice = draws(seed)
  const clock = manualClock()
  const service = new Service(clock, dice)
  const register = new Register(clock, dice)
  const world = {
    dice,
    clock,
    service,
    register,
    stores: storesOn(register),
    events: {},
    failed: {},
    served: 0,
    pending: 0,
  }
  /** A signal that lives as long as the process, which all requests carry. */
  world.signal = new AbortController().signal
  setMaxListeners(1_000, world.signal)
  world.warnings = []
  for (const event of ['warning', 'unhandledRejection'])
    process.on(event, (reason) => world.warnings.push(String(reason)))
  return world
}

/** Half of the users have a login. Two in four share a store and a name with one other user. */
function userOf(world, n) {
  const isShared = n % 4 > 1
  const name = isShared ? `shared ${n - (n % 2)}` : `user ${n}`
  return new User(world, {
    name,
    isLogin: isShared ? n % 8 > 3 : n % 2 > 0,
    store: isShared ? world.stores : undefined,
  })
}

async function oneDay(world, users) {
  const { dice, clock } = world
  for (let hour = 0; hour < 24; hour += 1) {
    const [from, to] = [dice.whole(0, 30), dice.whole(31, 59)]
    const trouble = dice.happens(0.5) ? dice.oneOf(TROUBLES) : undefined
    for (let minute = 0; minute < 60; minute += 1) {
      if (minute === from) trouble?.begin(world, dice.oneOf(users))
      if (minute === to) trouble?.end?.(world, users)
      for (const user of users) if (dice.happens(0.3)) requests(world, user)
      await clock.advance(MINUTE)
    }
  }
}

const TROUBLES = [
  ...['silent', 'down', 'busy', 'refusing'].map((fault) => ({
    begin: ({ service }) => (service.fault = fault),
    end({ service }, users) {
      service.fault = undefined
      if (fault === 'refusing') adoptAll(users)
    },
  })),
  ...['silent', 'down'].map((fault) => ({
    begin: ({ register }) => (register.fault = fault),
    end: ({ register }) => (register.fault = undefined),
  })),
  { begin: ({ register }) => register.values.clear(), end: (_, users) => adoptAll(users) },
  { begin: ({ clock, dice }) => clock.stepWall(dice.whole(-2 * HOUR, 2 * HOUR)) },
  { begin: ({ service }) => service.revokeAll() },
  { begin: (_, user) => void user.tokens.reset().catch(() => undefined), end: (_, users) => adoptAll(users) },
  {
    begin: (_, user) => void user.end().then(() => user.begin()),
    end: (_, users) => adoptAll(users),
  },
]

/** All users log in. The store takes virtual time, which does not pass while a caller awaits it. So no caller awaits the result. */
function adoptAll(users) {
  for (const user of users) if (user.isLogin) user.adopt().catch(() => undefined)
}

/** Three requests at once: with the signal of the process, with one of its own, and one that its caller gives up. */
function requests(world, user) {
  const { dice, clock, signal } = world
  const giving = new AbortController()
  clock.setTimer(() => giving.abort(), 50)
  for (const each of [signal, new AbortController().signal, giving.signal]) {
    world.pending += 1
    user
      .request(dice.whole(0, 2), each)
      .then(
        () => (world.served += 1),
        ({ code, name }) => (world.failed[code ?? name] = (world.failed[code ?? name] ?? 0) + 1),
      )
      .finally(() => (world.pending -= 1))
  }
}

async function measured({ clock, signal, register, pending, warnings }) {
  for (let n = 0; n < 3; n += 1) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    heap: process.memoryUsage().heapUsed,
    timers: clock.pendingTimers,
    real: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    listeners: getEventListeners(signal, 'abort').length + process.eventNames().length,
    watchers: register.watchers.size,
    pending,
    warnings: warnings.length,
  }
}

/** Compares the last third of the days with the second fifth: caches have been filled by then. */
function flat(rows) {
  const early = rows.slice(Math.floor(rows.length / 5), Math.ceil((2 * rows.length) / 5))
  const late = rows.slice(-Math.ceil(rows.length / 3))
  const middle = (some, name) => some.map((row) => row[name]).sort((one, other) => one - other)[some.length >> 1]
  const most = { heap: 1.03, timers: 1.2, real: 1, listeners: 1.2, watchers: 1.2 }
  return Object.entries(most).map(([name, factor]) => {
    const [before, after] = [middle(early, name), middle(late, name)]
    return [after <= before * factor + 1, `${name} flat: ${before} early, ${after} late (medians of days)`]
  })
}

function nothingLeft({ timers, real, pending, watchers }) {
  return [
    [timers === 0 && real === 0, `closed managers leave no timer (${timers} and ${real})`],
    [pending === 0, `each request has ended (${pending} had not)`],
    [watchers === 0, `no manager watches the store (${watchers} did)`],
  ]
}
