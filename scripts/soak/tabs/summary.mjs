import { NAMES } from '../../../test/browser/support/engines.mjs'

/** What this engine has no command for. */
export function lacksOf(engine) {
  const lacks = []
  if (!engine.offline) lacks.push('go offline (the service is cut off, and `onLine` is false)')
  if (!engine.quota) lacks.push('fill the storage (left out)')
  if (engine.name !== 'chromium') lacks.push('freeze a tab as a browser does (a synchronous request blocks it)')
  return lacks.join('; ') || 'nothing of this'
}

/** The totals of all rounds. */
export function sumOf(results) {
  const all = (name) => results.flatMap((result) => result[name])
  const total = (name) => results.reduce((sum, result) => sum + result[name], 0)
  const counts = (name) => {
    const sum = {}
    for (const result of results)
      for (const [key, count] of Object.entries(result[name])) sum[key] = (sum[key] ?? 0) + count
    return sum
  }
  const reasons = all('logins').map(({ reason }) => reason)
  const again = all('again')
  const firstMs = {}
  for (const result of results)
    for (const [deed, waits] of Object.entries(result.firstMs))
      firstMs[deed] = Math.round(Math.max(firstMs[deed] ?? 0, ...waits))
  return {
    ...{ served: total('served'), failed: counts('failed'), refused: total('refused'), hung: total('hung') },
    ...{ worked: counts('worked'), deeds: counts('deeds'), restored: total('restored'), refreshes: total('refreshes') },
    again: grouped(again.flatMap(({ lost }) => lost ?? [])),
    twice: again.filter(({ lost }) => lost === undefined).length,
    logins: grouped(reasons.map((reason) => reason ?? 'NO REASON')),
    asOther: all('asOther').filter(({ storage }) => !storage).length,
    lost: reasons.filter((reason) => !['first', 'storage', 'silent storage'].includes(reason)).length,
    ...{ longestFirstMs: firstMs, suspicious: grouped(all('suspicious')), anomalies: counts('anomalies') },
    trouble: grouped(all('trouble')),
  }
}

function grouped(values) {
  const counts = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

export function promisesOf({ twice, asOther, lost, hung, served }) {
  return [
    [asOther === 0, `no page that knew of a login sent a request of the previous user's login (${asOther} were sent)`],
    [twice === 0, `no refresh token was presented again after its response had arrived (${twice} were)`],
    [lost === 0, `no login was lost unless the storage was deleted, full or unresponsive (${lost} were)`],
    [hung === 0 && served > 0, `no request hung (${hung} did)`],
  ]
}

export function rowOf(
  { name, version },
  rounds,
  { seconds },
  { deeds, refreshes, again, twice, asOther, lost, longestFirstMs },
) {
  const count = (counts) => Object.values(counts).reduce((sum, one) => sum + one, 0)
  const { changed = 0, redirected = 0, worked = 0 } = deeds
  const cells = [NAMES[name], version, `${rounds} of ${seconds} s`, count(deeds), `${changed} + ${redirected}`, worked]
  cells.push(refreshes, count(again), twice, asOther, lost)
  return [...cells, `${((longestFirstMs['reloaded in a refresh'] ?? 0) / 1_000).toFixed(1)} s`]
}
