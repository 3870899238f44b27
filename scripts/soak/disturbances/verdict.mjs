// What a round shows. No function here acts.

/** @returns The counts of one round. `faults`: what must not be. */
export function verdictOf({ service, isLogin, row, tabs, armedAt, calmAt, stuck, trouble }) {
  const isExcused = ([call, earlier]) => isLogin && wasLost(earlier, call.at)
  const twice = service.again.filter((one) => !isExcused(one))
  const out = service.reports.filter((report) => report.code === 'ERR_LOGIN_REQUIRED' && report.at > armedAt)
  const wrong = out.filter((report) => !isTrue(report, { service, isLogin, row }))
  return {
    twice: twice.length,
    wronglyOut: new Set(wrong.map(({ tab }) => tab)).size,
    stuck: stuck?.length ?? 0,
    trouble: trouble ? 1 : 0,
    refreshes: service.calls.filter(({ token }) => token !== undefined).length,
    lost: isLogin && !service.isLiving(currentLogin(service)) ? 1 : 0,
    restored: service.reports.some(({ restored }) => restored) ? 1 : 0,
    suspicious: service.reports.filter(({ suspicious }) => suspicious).length,
    tabs: tabs.length,
    longestMs: calmAt === undefined ? 0 : performance.now() - calmAt,
  }
}

/** How long pages wait for a response, ms. */
export const EXCHANGE_TIMEOUT_MS = 4_000

/** Whether no page had the response of that call by then. Busy machines delay the command that the response waits for. */
function wasLost({ at: sentByPageAt, sentAt = Infinity, lost, lostUntil = Infinity }, at) {
  const isLate = Math.min(sentAt, at) - sentByPageAt > EXCHANGE_TIMEOUT_MS
  return isLate || lost === 'always' || (lost === 'meanwhile' && at < lostUntil)
}

const currentLogin = ({ calls }) => calls.findLast(({ token }) => token === undefined)?.login

/** Whether a user really must log in. */
function isTrue({ tab, wasLiving, at }, { service, isLogin, row }) {
  if (!isLogin) return false
  if (row.ends || (row.isApart && tab !== 1)) return true
  const newest = service.newest(currentLogin(service))
  return !wasLiving || (newest !== undefined && wasLost(newest, at))
}
