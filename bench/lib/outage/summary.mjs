export const FAST = 'fails at once'
const SILENT = 'no answer'

/** @returns How far the promises about outages (P4, P6) were kept, over all classes of outages. */
export function summary(classes) {
  const upTo = (kind, seconds) => classes.filter((each) => each.kind === kind && each.toS <= seconds)
  const fast = classes.filter(({ kind }) => kind === FAST)
  const other = classes.filter(({ kind }) => kind !== FAST)
  const longer = upTo(FAST, 18).filter(({ fromS }) => fromS >= 7)
  return {
    fast7: sums(upTo(FAST, 7)),
    fast18: sums(longer),
    silent10: sums(upTo(SILENT, 10)),
    all: sums(classes),
    longestWaitMs: most(classes, 'longestWaitMs'),
    firstMinute: most(classes, 'firstMinute'),
    laterMinute: most(classes, 'laterMinute'),
    fastRecoveryMs: most(fast, 'recoveryMs'),
    otherRecoveryMs: most(other, 'recoveryMs'),
  }
}

function sums(classes) {
  const names = ['outages', 'outagesFailed', 'failed', 'delayed', 'mute', 'alarms']
  return Object.fromEntries(names.map((name) => [name, classes.reduce((all, each) => all + each[name], 0)]))
}

function most(classes, name) {
  return Math.max(0, ...classes.map((each) => each[name]))
}
