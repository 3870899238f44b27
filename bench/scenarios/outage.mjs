import { Plot } from '../lib/chart.mjs'
import { FAINT, PACKAGE, STRONG } from '../lib/colors.mjs'
import * as findings from '../lib/findings.mjs'
import { FAST, summary } from '../lib/outage/summary.mjs'
import { classes, feltBySecond, Tally } from '../lib/outage/tally.mjs'
import { figure, reach, table } from '../lib/table.mjs'
import { cores, inThreads } from '../lib/threads.mjs'

export const name = 'outage'
export const title = 'Outage: the token service is away for a while'

const WORKER = new URL('../lib/outage/worker.mjs', import.meta.url)
const RECOVERED_MS = 21_000
const LIFETIME_S = 60

export async function run({ quick = false } = {}) {
  const count = quick ? 2_000 : 200_000
  const tally = new Tally()
  const tasks = Array.from({ length: cores }, (_, n) => ({ first: n + 1, count, step: cores }))
  for (const groups of await inThreads(WORKER, tasks)) tally.join(groups)
  return { count, classes: classes(tally.groups), felt: feltBySecond(tally.groups) }
}

export function ratios({ classes }) {
  const { fast7, silent10, all, firstMinute, laterMinute, fastRecoveryMs, otherRecoveryMs } = summary(classes)
  return {
    'calls that felt 7 s of failing at once': { value: fast7.failed + fast7.delayed, tolerance: 1 },
    'calls that failed in 10 s without an answer': { value: silent10.failed, tolerance: 1 },
    'errors without retryAt': { value: all.mute, tolerance: 1 },
    'unexplained suspicions': { value: all.alarms, tolerance: 1 },
    'token calls in the first minute': { value: firstMinute, tolerance: 1 },
    'token calls in a later minute': { value: laterMinute, tolerance: 1 },
    // In virtual time, so these do not depend on the machine.
    'recovery from failing at once, ms': { value: fastRecoveryMs, tolerance: 1.02 },
    'recovery from anything else, ms': { value: otherRecoveryMs, tolerance: 1.02 },
  }
}

export function section({ count, classes }) {
  const columns = ['the service', '>outages', '>of them felt', '>calls failed', '>calls delayed', '>longest wait']
  const more = ['>token calls, 1st minute: mean, most', '>most in a later minute', '>recovery: median, 99 %, worst']
  return `${figure(count)} random outages in virtual time, with tokens of 60 s. One to four processes share a store, with or without refresh tokens, and make two to ten
calls a second (one in one to three seconds if the outage is longer than 20 s). An outage begins at any moment in the life of a token. The service refuses or
breaks off connections, or answers 503 (*${FAST}*); or it does not answer; or it answers 503 after 1 s to 9 s (*slow*). An outage is felt if a call failed
or had to wait. Recovery is the time from the return of the service to the end of the last such call.

${table([...columns, ...more], classes.map(row))}

${reaches(classes).join('\n\n')}`
}

function row({ kind, fromS, toS, ...felt }) {
  const share = figure((felt.outagesFelt / felt.outages) * 100, 1)
  return [
    `${kind}, ${fromS} s to ${toS} s`,
    figure(felt.outages),
    `${share} %`,
    `${figure(felt.failed)} of ${figure(felt.calls)}`,
    figure(felt.delayed),
    seconds(felt.longestWaitMs),
    `${figure(felt.meanFirstMinute, 1)}, ${felt.firstMinute}`,
    felt.laterMinute,
    felt.recoveryMs > 0 &&
      [felt.recoveryMedianMs, felt.recoveryP99Ms, felt.recoveryMs].map((ms) => figure(ms / 1_000, 1)).join(', ') + ' s',
  ].map((cell) => cell || undefined)
}

/** The promises P4 and P6, each with its result. */
function reaches(classes) {
  const { fast7, fast18, silent10, all, longestWaitMs, firstMinute, laterMinute, ...recovery } = summary(classes)
  const { fastRecoveryMs, otherRecoveryMs } = recovery
  const felt = ({ failed, delayed, outages }) =>
    `${figure(failed)} calls failed and ${figure(delayed)} were delayed in ${figure(outages)} outages`
  return [
    reach(
      fast7.failed + fast7.delayed === 0,
      `no call notices an outage of up to 7 s that fails at once (P4): ${felt(fast7)}.`,
    ),
    reach(silent10.failed === 0, `no call fails in an outage of up to 10 s without an answer (P4): ${felt(silent10)}.`),
    reach(
      longestWaitMs <= 30_000 && all.mute === 0,
      `a call that fails does so within 30 s, and its error says when to try again (P4): the longest wait was ${seconds(longestWaitMs)}, and
${all.mute} of ${figure(all.failed)} errors were without \`retryAt\`.`,
    ),
    reach(
      firstMinute <= 10 && laterMinute <= 4,
      `at most 10 token calls in the first minute and 4 in each later one, of all processes together (P6): ${firstMinute} and ${laterMinute}.`,
    ),
    reach(
      fastRecoveryMs <= RECOVERED_MS,
      `after an outage that fails at once calls succeed again within 21 s (P6): at the latest after ${seconds(fastRecoveryMs)}.`,
    ),
    reach(
      otherRecoveryMs <= RECOVERED_MS,
      `the same after any other outage (P6): at the latest after ${seconds(otherRecoveryMs)}.`,
    ),
    reach(all.alarms === 0, `no lost answer leads to an unexplained suspicion: ${all.alarms} suspicions.`),
    `Between 7 s and 18 s of failing at once ${figure(fast18.outagesFailed)} of ${figure(fast18.outages)} outages had calls that failed. When the old token ends,
callers get an error at once, and do not wait ([decided otherwise](faults.md#decided-otherwise)).`,
  ]
}

function seconds(ms) {
  return ms > 0 ? `${figure(ms / 1_000, 1)} s` : '0 s'
}

export function charts(results) {
  const kinds = [...new Set(results.felt.map(({ kind }) => kind))]
  const layers = { 'no call noticed': PACKAGE, 'calls had to wait, none failed': FAINT, 'calls failed': STRONG }
  const [calm, waited, failed] = Object.keys(layers)
  const data = results.felt.flatMap(({ kind, seconds: length, delayed, failed: lost }) => [
    { kind, length, what: failed, from: 0, to: lost },
    { kind, length, what: waited, from: lost, to: delayed },
    { kind, length, what: calm, from: delayed, to: 1 },
  ])
  return {
    'bench-outage.svg': {
      title: findings.outage(results, LIFETIME_S),
      subtitle: `${figure(results.count)} random outages, by their length and by what the service does meanwhile`,
      caption: `${figure(results.count)} random outages of the token service in virtual time. The height of a colour is the share of outages of that length in which no call noticed anything, calls had to wait but none failed, or calls failed. The service breaks off or answers 503 (${FAST}), does not answer (no answer), or answers 503 after 1 s to 9 s (slow).`,
      legend: layers,
      height: 420,
      marginRight: 100,
      x: { label: 'length of the outage, s' },
      y: { label: 'share of outages, %', percent: true, domain: [0, 100], ticks: [0, 50, 100] },
      fy: { label: null, domain: kinds, padding: 0.12 },
      marks: [
        Plot.areaY(data, {
          x: 'length',
          y1: 'from',
          y2: 'to',
          fy: 'kind',
          z: 'what',
          fill: ({ what }) => layers[what],
          fillOpacity: 0.8,
        }),
        Plot.ruleY([0]),
      ],
    },
  }
}
