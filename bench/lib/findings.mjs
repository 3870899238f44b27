// The finding of each chart, in one sentence computed from the figures: the titles of the charts, and their alternative texts.
import { figure } from './table.mjs'

const OURS = 'axios-evergreen'
const [STATIC, AGAIN] = ['static header', 'A/A']

export function stampede({ callers, storms }) {
  const most = callers.at(-1)
  const calls = Object.entries(storms.cold[most]).filter(([who]) => who !== STATIC)
  const ours = storms.cold[most][OURS].calls
  const highest = Math.max(...calls.map(([, each]) => each.calls))
  const worst = calls.filter(([, each]) => each.calls === highest && highest > ours).map(([who]) => shown(who))
  const other = worst.length > 0 ? `; with ${listed(worst)} ${figure(highest)}` : ''
  return `${figure(most)} callers without a token cost ${counted(ours, 'token call')} with ${OURS}${other}`
}

export function hotPath({ settings }, headings) {
  const more = (ratio) => Math.round((ratio - 1) * 100)
  const each = Object.entries(headings).map(([setting, heading]) => {
    const { [OURS]: ours, [AGAIN]: again } = settings[setting].quiet
    return { heading, ours: more(ours.median), again: Math.abs(more(again.median)) }
  })
  const costs = each.map(({ heading, ours }) => `${ours} % (${heading})`)
  const noise = Math.max(...each.map(({ again }) => again))
  return `A fresh token of ${OURS} costs a request ${listed(costs)} more processor time than a constant header; noise is up to ${noise} %`
}

export function rotation({ contestants }, lifetimeMs) {
  const { [OURS]: ours, [AGAIN]: again } = contestants
  const others = Object.entries(contestants).filter(([who]) => ![STATIC, AGAIN, OURS].includes(who))
  const shares = others.map(([, { waited, requests }]) => (waited / requests) * 100).sort((one, other) => one - other)
  // Requests that wait with a fixed header too wait for this machine, not for a token.
  const waited = Math.max(0, ours.waited - again.waited)
  const waits = `${waited === 0 ? 'no request' : counted(waited, 'request')} of ${figure(ours.requests)}`
  return `While tokens of ${lifetimeMs / 1_000} s rotate, ${waits} had to wait for one with ${OURS}; with others ${figure(shares[0], 1)} % to ${figure(shares.at(-1), 1)} % had to`
}

/** Outages are grouped by whole seconds, rounded down. */
export function outage({ felt }, lifetimeS) {
  const until = (what) => Math.min(...felt.filter((each) => each[what] > 0).map(({ seconds }) => seconds))
  const [noticed, failed] = [until('delayed'), until('failed')]
  if (noticed === Infinity)
    return `With tokens of ${lifetimeS} s, no call notices an outage of any length that was tried`
  const fails = failed === Infinity ? 'none fails in any' : `none fails in one shorter than ${failed} s`
  return `With tokens of ${lifetimeS} s, no call notices an outage shorter than ${noticed} s, and ${fails}`
}

export function growth({ curves, fleet }, steepest) {
  const slopes = [...curves.map(({ slope }) => slope), ...(fleet ? [fleet.slope] : [])]
  const most = Math.max(...slopes)
  const worse = slopes.filter((slope) => slope > steepest).length
  const grows = worse === 0 ? 'None' : figure(worse)
  return `${grows} of ${figure(slopes.length)} costs ${worse > 1 ? 'grow' : 'grows'} faster than what causes it: the steepest slope is ${most.toFixed(2)}, and 1 is linear`
}

/** @param highest The most token calls in a second, by the name of the fleet. */
export function fleet(fleets, highest) {
  const most = (isShared) => Math.max(...fleets.filter((each) => each.isShared === isShared).map(highest))
  return `${figure(fleets[0].processes)} processes that share a store make at most ${counted(most(true), 'token call')} in a second; each on its own, up to ${figure(most(false))}`
}

/** @returns The name of a package, or a description of what has no such name. */
function shown(who) {
  return who === 'hand-written' ? 'a hand-written interceptor' : who
}

function counted(count, what) {
  return `${figure(count)} ${what}${count === 1 ? '' : 's'}`
}

function listed(names) {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
