import { AGAIN, contestants, EVERGREEN, renewing, shownName, STATIC } from '../lib/contestants.mjs'
import { chart, COLORS, Plot } from '../lib/chart.mjs'
import { BASE_URL, checking } from '../lib/in-process-api.mjs'
import { interleaved, median, spread } from '../lib/rounds.mjs'
import { startServices } from '../lib/services.mjs'
import { figure, ratio, reach, table } from '../lib/table.mjs'
import { tokenCall } from '../lib/token-call.mjs'
import { heapPerWaiter } from '../lib/waiters.mjs'

export const name = 'stampede'
export const title = 'Stampede: many callers, and no token'

const TOKEN_LATENCY_MS = 50
const LIFETIME_MS = 60_000
/** Of the tokens that are to be expired when the callers come. */
const SHORT_LIFETIME_MS = 400
/**
 * Twice a lifetime, as a token that was used is renewed in the background by those who can, and the next one, which nobody uses, lapses;
 * and the second that ours leaves between two renewals.
 */
const IDLE_MS = 2 * SHORT_LIFETIME_MS + 1_000
const MOST_TIMES = 1.15
const MOST_BYTES = 3 * 1_024

const names = [STATIC, AGAIN, ...renewing.map((each) => each.name)]

export async function run({ quick }) {
  const callers = quick ? [1, 100, 1_000] : [1, 100, 1_000, 10_000]
  const { services, close } = await startServices([{ accessLifetimeMs: LIFETIME_MS, latencyMs: TOKEN_LATENCY_MS }])
  const obtain = tokenCall(services[0])
  const storms = { cold: {}, expired: {} }
  for (const state of Object.keys(storms)) {
    for (const count of callers) {
      const rounds = await interleaved({
        rounds: quick ? 2 : count < 10_000 ? 9 : 3,
        warmUps: count < 10_000 ? 1 : 0,
        contestants: names,
        prepare: () => prepared(state, obtain),
        measure: measuring(count),
      })
      storms[state][count] = results(rounds)
    }
  }
  await close()
  return { callers, storms, heap: await heapPerWaiter(quick ? 1_000 : 10_000, quick ? 3 : 11) }
}

/** One that makes ten thousand token calls takes seconds, and is so far off that once is enough. */
function measuring(count) {
  const once = {}
  return async (each, { worlds, roundTripMs }) => {
    const figures = once[each] ?? { ...(await storm(worlds[each], count)), roundTripMs }
    if (figures.calls > 1_000) once[each] = figures
    return figures
  }
}

/** All contestants, with no token or with one that has ended. */
async function prepared(state, obtain) {
  const worlds = {}
  for (const each of names) worlds[each] = await world(contestants[each === AGAIN ? STATIC : each], obtain, state)
  if (state === 'expired') {
    await Promise.all(Object.values(worlds).map(({ get }) => get('/wallet')))
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  }
  for (const each of Object.values(worlds)) each.startStorm()
  return { worlds, roundTripMs: await roundTrip(obtain) }
}

async function world({ onAxios, name: who }, obtain, state) {
  const goodUntil = new Map()
  let isStorm = state === 'cold' || who === STATIC
  let calls = 0
  const countedObtain = async () => {
    calls += 1
    const { accessToken, lifetimeMs: whole } = await obtain()
    const lifetimeMs = isStorm ? whole : SHORT_LIFETIME_MS
    goodUntil.set(`Bearer ${accessToken}`, performance.now() + lifetimeMs)
    return { accessToken, lifetimeMs }
  }
  const contestant = await onAxios({
    instance: checking((header) => performance.now() < (goodUntil.get(header) ?? 0)),
    baseUrl: BASE_URL,
    obtain: countedObtain,
    lifetimeMs: isStorm ? LIFETIME_MS : SHORT_LIFETIME_MS,
  })
  return {
    ...contestant,
    startStorm() {
      isStorm = true
      calls = 0
    },
    calls: () => calls,
  }
}

async function storm({ get, close, calls }, count) {
  const startedAt = performance.now()
  const outcomes = await Promise.allSettled(Array.from({ length: count }, () => get('/wallet')))
  const ms = performance.now() - startedAt
  await close?.()
  return { ms, calls: calls(), served: outcomes.filter(({ status }) => status === 'fulfilled').length }
}

async function roundTrip(obtain) {
  const taken = []
  for (let n = 0; n < 3; n++) {
    const startedAt = performance.now()
    await obtain()
    taken.push(performance.now() - startedAt)
  }
  return median(taken)
}

/** Of each contestant: its time, as a multiple of the static header's in the same round with a token round trip on top. */
function results(rounds) {
  const limitMs = (round) => round[STATIC].ms + round[STATIC].roundTripMs
  const all = {}
  for (const each of names) {
    const spentMs = (round) => round[each].ms + (each === AGAIN ? round[each].roundTripMs : 0)
    all[each] = {
      ms: median(rounds.map((round) => round[each].ms)),
      times: spread(rounds.map((round) => spentMs(round) / limitMs(round))),
      // The worst of all rounds: these are promises, not speeds.
      calls: Math.max(...rounds.map((round) => round[each].calls)),
      served: Math.min(...rounds.map((round) => round[each].served)),
    }
  }
  return all
}

export function ratios({ storms, heap }) {
  const held = { 'bytes per waiter': { value: heap.beyondPlain[EVERGREEN].median, tolerance: 1.25 } }
  for (const [state, byCount] of Object.entries(storms)) {
    const { calls, served, times } = byCount[1_000][EVERGREEN]
    held[`token calls, ${state}`] = { value: calls, tolerance: 1 }
    held[`not served, ${state}`] = { value: 1_000 - served, tolerance: 1 }
    held[`time of 1 000 callers, ${state}`] = { value: times.median, tolerance: 1.4 }
  }
  return held
}

export function section({ callers, storms, heap }) {
  const most = callers.at(-1)
  const ours = Object.values(storms).flatMap((state) => callers.map((count) => ({ count, ...state[count][EVERGREEN] })))
  const worst = Math.max(...ours.map(({ times }) => times.median))
  const bytes = heap.beyondPlain[EVERGREEN].median
  return `All callers start in one turn of the event loop; the API answers in process, the token service over HTTP, ${TOKEN_LATENCY_MS} ms after it has
acted. The time is a multiple of what the static header takes for as many requests plus one round trip of a token call, in the same round. Token calls
are the most of any round, served the fewest. The three that have a transport of their own are asked for their token by an interceptor.

${Object.keys(storms)
  .map((state) => `### ${headings[state]}\n\n${stormTable(storms[state], callers)}`)
  .join('\n\n')}

### Heap of ${figure(heap.count)} waiters

A request that waits for its answer takes ${figure(heap.plain.median)} bytes in plain axios; one that waits for its token takes this much more:

${table(
  ['contestant', '>bytes per waiter, beyond plain axios', '>middle half'],
  Object.entries(heap.beyondPlain)
    .filter(([each]) => each !== STATIC)
    .map(([each, { median: middle, low, high }]) => [
      shownName(each),
      figure(middle),
      `${figure(low)} to ${figure(high)}`,
    ]),
)}

${reach(
  ours.every(({ calls }) => calls === 1),
  `1 token call, at every number of callers: ${Math.max(...ours.map(({ calls }) => calls))}.`,
)}

${reach(
  ours.every(({ served, count }) => served === count),
  `all served: ${figure(Math.min(...ours.filter(({ count }) => count === most).map(({ served }) => served)))} of ${figure(most)}.`,
)}

${reach(worst <= MOST_TIMES, `at most ${MOST_TIMES} ×: ${worst.toFixed(3)} × at worst.${worst <= MOST_TIMES ? '' : WHY}`)}

${reach(bytes <= MOST_BYTES, `at most ${figure(MOST_BYTES)} bytes per waiter: ${figure(bytes)}.`)}`
}

const WHY = ` That is the price of a limit and a signal of its own for each caller, which keep about as much memory as the request itself alive
until the token comes: with very many callers at once, collecting it is what takes the time. Up to a thousand of them, see above.`

const headings = { cold: 'No token yet', expired: 'The token has expired' }

function stormTable(state, callers) {
  const columns = callers.flatMap((count) => [`>calls, ${figure(count)}`, '>served', '>time'])
  const rows = names.filter((each) => each !== STATIC)
  return table(
    ['contestant', ...columns],
    rows.map((each) => [
      shownName(each),
      ...callers.flatMap((count) => {
        const { calls, served, times } = state[count][each]
        return [figure(calls), figure(served), `${ratio(times, 2)} ×`]
      }),
    ]),
  )
}

export function charts({ callers, storms }) {
  const most = callers.at(-1)
  const data = renewing.map(({ name: who }) => ({ who, calls: storms.cold[most][who].calls }))
  return {
    'bench-stampede.svg': chart({
      title: `Token calls for ${figure(most)} callers and no token yet`,
      marginLeft: 200,
      height: 280,
      x: { label: 'token calls', type: 'log', domain: [0.7, most * 2], tickFormat: ',d' },
      y: { label: null, domain: data.map(({ who }) => who) },
      marks: [
        Plot.barX(data, {
          y: 'who',
          x1: 0.7,
          x2: 'calls',
          fill: ({ who }) => (who === EVERGREEN ? COLORS[0] : '#808080'),
        }),
        Plot.text(data, { y: 'who', x: 'calls', text: ({ calls }) => figure(calls), dx: 6, textAnchor: 'start' }),
      ],
    }),
  }
}
