// What the harness concludes from what it did, and what the service and the pages saw. No function here acts.

/** A tab may lose a response that the service sent shortly before a fault in that tab, ms. */
export const ON_ITS_WAY_MS = 1_500

/** @returns Whether that tab may lack the response to its call, or the service did not act: then the package may present that token again. */
export function whyLost({ end, disturbed, storage }) {
  if (disturbed) return disturbed
  if (end !== 200) return `answered ${end}`
  return storage ? 'storage' : undefined
}

/** @returns Refreshes with a token that an earlier refresh had presented: `lost` says why the response to the earlier one was lost. Undefined: it was not. */
export function presentedAgain(calls) {
  return calls.flatMap((call, at) => {
    const earlier = calls.slice(0, at).filter(({ token }) => token === call.token)
    if (earlier.length === 0) return []
    const reasons = earlier.map(whyLost)
    return [{ call, lost: reasons.includes(undefined) ? undefined : reasons.at(-1), earlier }]
  })
}

/**
 * Why a user must log in, if the harness has caused it.
 *
 * @returns `first`: no user has logged in before; `storage`: the storage was deleted, or full; `silent storage`: the engine's IndexedDB no longer responds; the
 * loss of a response, if the service has rejected the token because of it; undefined: no reason is known.
 */
export function reasonOfLogin({ calls, logins, storageDeeds, isStorageSilent }) {
  if (logins.length === 0) return 'first'
  if (storageDeeds > 0) return 'storage'
  if (isStorageSilent) return 'silent storage'
  const refused = presentedAgain(calls)
    .filter(({ call }) => call.end === 400)
    .at(-1)
  const isNew = refused && refused.call.at > logins.at(-1).at
  return isNew && refused.lost ? `the lost response of a tab: ${refused.lost}` : undefined
}
