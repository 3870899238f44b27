import { contestants, EVERGREEN, others, STATIC } from '../lib/contestants.mjs'
import { BASE_URL, checking } from '../lib/in-process-api.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { startServices } from '../lib/services.mjs'
import { figure, range } from '../lib/table.mjs'
import { tokenCall } from '../lib/token-call.mjs'

export const name = 'stampede'
export const title = 'Stampede: many callers, and no token'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 4

const TOKEN_LATENCY_MS = 50
const LIFETIME_MS = 60_000
/** Lifetime of the tokens that must have expired when the callers come. */
const SHORT_LIFETIME_MS = 400
/**
 * Two lifetimes, because some contestants renew a used token once more in the background, and the next token expires unused; and the second that our
 * manager leaves between two renewals.
 */
const IDLE_MS = 2 * SHORT_LIFETIME_MS + 1_000

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
  return { callers, storms }
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

export function ratios({ storms }) {
  const held = {}
  for (const [state, byCount] of Object.entries(storms)) {
    const { calls, served } = byCount[1_000][EVERGREEN]
    held[`token calls, ${state}`] = { value: calls, tolerance: 1 }
    held[`not served, ${state}`] = { value: 1_000 - served, tolerance: 1 }
  }
  return held
}

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf({ callers, storms }) {
  const most = callers.at(-1)
  const calls = (each) => storms.cold[most][each].calls
  return [
    `token requests for ${figure(most)} API requests at once, without a token`,
    figure(calls(EVERGREEN)),
    `others ${range(others.map(calls))
      .map((one) => figure(one))
      .join(' to ')}`,
  ]
}
