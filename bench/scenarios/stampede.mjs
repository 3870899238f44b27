import { AGAIN, contestants, EVERGREEN, renewing, shownName, STATIC } from '../lib/contestants.mjs'
import { Plot } from '../lib/chart.mjs'
import { OTHER, PACKAGE } from '../lib/colors.mjs'
import * as findings from '../lib/findings.mjs'
import { BASE_URL, checking } from '../lib/in-process-api.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { startServices } from '../lib/services.mjs'
import { figure, ratio, reach, reachBeyond, reachRatio, table } from '../lib/table.mjs'
import { tokenCall } from '../lib/token-call.mjs'
import { costOfWaiting, heapPerWaiter } from '../lib/waiters.mjs'

export const name = 'stampede'
export const title = 'Stampede: many callers, and no token'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 3

const TOKEN_LATENCY_MS = 50
const LIFETIME_MS = 60_000
/** Lifetime of the tokens that must have expired when the callers come. */
const SHORT_LIFETIME_MS = 400
/**
 * Two lifetimes: some contestants renew a used token once more in the background, and the next token expires unused. And the second that
 * our manager leaves between two renewals.
 */
const IDLE_MS = 2 * SHORT_LIFETIME_MS + 1_000
/** The most processor time of waiting callers, as a multiple of the static header's: without signals, and with one for each caller. */
const MOST_TIMES = { plain: 1.28, signals: 1.5 }
/** The most heap of a waiting caller beyond plain axios, in the same two ways. */
const MOST_BYTES = { plain: 400, signals: 500 }

const others = renewing.map((each) => each.name).filter((each) => each !== EVERGREEN)
const names = [STATIC, EVERGREEN, ...others]

export async function run({ quick }) {
  const callers = quick ? [1, 100, 1_000] : [1, 100, 1_000, 10_000]
  const { services, close } = await startServices([{ accessLifetimeMs: LIFETIME_MS, latencyMs: TOKEN_LATENCY_MS }])
  const obtain = tokenCall(services[0])
  const storms = { cold: {}, expired: {} }
  for (const state of Object.keys(storms)) {
    for (const count of callers) {
      const rounds = await interleaved({
        rounds: quick ? 2 : count < 10_000 ? 5 : 3,
        warmUps: 0,
        contestants: names,
        prepare: () => prepared(state, obtain),
        measure: measuring(count),
      })
      storms[state][count] = results(rounds)
    }
  }
  await close()
  return {
    callers,
    storms,
    // With fewer callers the cost of collecting them would not show. A quick run leaves out all other contestants.
    cost: await costOfWaiting(10_000, quick ? { rounds: 9, others: [] } : { rounds: 21, others }),
    heap: await heapPerWaiter(10_000, quick ? 3 : 7),
  }
}

/** A contestant that makes ten thousand token calls takes seconds, and is so far off that one round is enough. */
function measuring(count) {
  const once = {}
  return async (each, worlds) => {
    const figures = once[each] ?? (await storm(worlds[each], count))
    if (figures.calls > 1_000) once[each] = figures
    return figures
  }
}

/** All contestants, without a token or with an expired one. */
async function prepared(state, obtain) {
  const worlds = {}
  for (const each of names) worlds[each] = await world(contestants[each], obtain, state)
  if (state === 'expired') {
    await Promise.all(Object.values(worlds).map(({ get }) => get('/wallet')))
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  }
  for (const each of Object.values(worlds)) each.startStorm()
  return worlds
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
  const outcomes = await Promise.allSettled(Array.from({ length: count }, () => get('/wallet')))
  await close?.()
  return { calls: calls(), served: outcomes.filter(({ status }) => status === 'fulfilled').length }
}

/** The worst of all rounds counts, because these are promises, not speeds. */
function results(rounds) {
  const worst = (each) => ({
    calls: Math.max(...rounds.map((round) => round[each].calls)),
    served: Math.min(...rounds.map((round) => round[each].served)),
  })
  return Object.fromEntries(names.map((each) => [each, worst(each)]))
}

export function ratios({ storms, cost, heap }) {
  const held = {}
  for (const [way, heading] of Object.entries(ways))
    held[`bytes per waiter, ${heading}`] = { value: heap[way].beyond[EVERGREEN].median, tolerance: 1.1 }
  for (const [state, byCount] of Object.entries(storms)) {
    const { calls, served } = byCount[1_000][EVERGREEN]
    held[`token calls, ${state}`] = { value: calls, tolerance: 1 }
    held[`not served, ${state}`] = { value: 1_000 - served, tolerance: 1 }
  }
  for (const [way, heading] of Object.entries(ways))
    held[`processor time of waiting, ${heading}`] = { value: cost[way][EVERGREEN].cpu.median, tolerance: 1.15 }
  return held
}

export function section({ callers, storms, cost, heap }) {
  const most = callers.at(-1)
  const ours = Object.values(storms).flatMap((state) => callers.map((count) => ({ count, ...state[count][EVERGREEN] })))
  return `All callers start in one turn of the event loop. The API answers in process, the token service over HTTP, ${TOKEN_LATENCY_MS} ms after it acts. \`calls\` is
the most of any round, \`served\` the fewest. Three contestants have a transport of their own: an interceptor asks them for their token.

${Object.keys(storms)
  .map((state) => `### ${headings[state]}\n\n${stormTable(storms[state], callers)}`)
  .join('\n\n')}

### Cost of ${figure(cost.callers)} waiting callers

Here the token service answers in process, one turn of the event loop later: all callers wait by then, and no figure includes a
round trip. The times are multiples of those of the static header, for as many requests in the same round: processor time, and time by
the clock. With signals, each caller has a signal of its own, also with the static header.

${table(
  ['contestant', ...Object.values(ways).flatMap((heading) => [`>processor, ${heading}`, '>clock'])],
  Object.keys(cost.plain).map((each) => [
    shownName(each),
    ...Object.keys(ways).flatMap((way) => [ratio(cost[way][each].cpu, 2), ratio(cost[way][each].clock, 2)]),
  ]),
)}

### Heap of ${figure(heap.count)} waiters

In plain axios a request that waits for its answer takes ${figure(heap.plain.static.median)} bytes, with a signal ${figure(heap.signals.static.median)}. The signal itself is not counted. A request that
waits for its token takes more by:

${table(
  ['contestant', ...Object.values(ways).flatMap((heading) => [`>bytes, ${heading}`, '>middle half'])],
  Object.keys(heap.plain.beyond).map((each) => [
    shownName(each),
    ...Object.keys(ways).flatMap((way) => {
      const { median: middle, low, high } = heap[way].beyond[each]
      return [figure(middle), `${figure(low)} to ${figure(high)}`]
    }),
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

${Object.entries(ways)
  .map(([way, heading]) => {
    const [ours, again] = [EVERGREEN, AGAIN].map((each) => cost[way][each].cpu)
    const [bytes, bytesAgain] = [EVERGREEN, AGAIN].map((each) => heap[way].beyond[each])
    const time = { value: ours.median, again, limit: MOST_TIMES[way] }
    const memory = { value: bytes.median, again: bytesAgain, limit: MOST_BYTES[way] }
    return [
      reachRatio(time, `the processor time of the static header, ${heading}`),
      reachBeyond(memory, 'bytes', `per waiter, ${heading}`),
    ]
  })
  .flat()
  .join('\n\n')}

Beyond the static header, a waiting caller costs its place in the queue, its limit, its continuation and, if it has one, a
listener on its signal. All of these live until the token comes. With so many callers, much of the time goes into copying and collecting them.`
}

const headings = { cold: 'No token yet', expired: 'The token has expired' }
const ways = { plain: 'without a signal', signals: 'with one each' }

function stormTable(storm, callers) {
  const columns = callers.flatMap((count) => [`>calls, ${figure(count)}`, '>served'])
  const rows = names.filter((each) => each !== STATIC)
  return table(
    ['contestant', ...columns],
    rows.map((each) => [
      shownName(each),
      ...callers.flatMap((count) => [figure(storm[count][each].calls), figure(storm[count][each].served)]),
    ]),
  )
}

export function charts(results) {
  const { callers, storms } = results
  const most = callers.at(-1)
  const data = renewing.map(({ name: who }) => ({ who, calls: storms.cold[most][who].calls }))
  const color = ({ who }) => (who === EVERGREEN ? PACKAGE : OTHER)
  return {
    'bench-stampede.svg': {
      title: findings.stampede(results),
      subtitle: `Token calls that each contestant makes for ${figure(most)} callers who start at once; logarithmic`,
      caption: `${figure(most)} requests start in one turn of the event loop, before there is a token. Each dot is a contestant: the further to the right, the more calls it makes of the token service. The scale is logarithmic.`,
      marginLeft: 205,
      marginRight: 70,
      height: 280,
      x: { label: 'token calls', type: 'log', domain: [1, most], ticks: 4, tickFormat: (n) => figure(n), grid: true },
      y: { label: null, domain: data.map(({ who }) => who), tickSize: 0 },
      marks: [
        Plot.ruleY(data, { y: 'who', x1: 1, x2: 'calls', stroke: color, strokeWidth: 4 }),
        Plot.dot(data, { y: 'who', x: 'calls', fill: color, r: 6 }),
        Plot.text(data, { y: 'who', x: 'calls', text: ({ calls }) => figure(calls), dx: 12, textAnchor: 'start' }),
      ],
    },
  }
}
