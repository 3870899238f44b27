// @ts-check

/**
 * @typedef {{ token: string, at: number }} Sending `at`: when the request was given to the transport, epoch ms.
 * @typedef {{ code: string, status?: number, path: string, sendings: Sending[] }} Failure A request that failed, as its worker reports it.
 * @typedef {(token: string) => number | undefined} EndOf Epoch ms; undefined if the service did not issue the token.
 */

/**
 * Whether a failed request says nothing against the library. On a busy machine a request may be in flight for longer than its token lives, and so may
 * its replay, after which the API's 401 surfaces by design. So the instants decide, not a guess: each of the two tokens lived when the request was given to
 * the transport, and had ended when the API saw it.
 *
 * @param {Failure} failure
 * @param {EndOf} endOf
 * @param {number[]} seenAt When the API saw each sending, epoch ms.
 */
export function hasEndedOnTheWay({ status, sendings }, endOf, seenAt) {
  /** @param {Sending} sending @param {number} index */
  const isOnTheWay = ({ token, at }, index) => {
    const end = endOf(token) ?? NaN
    return at < end && end <= (seenAt[index] ?? NaN)
  }
  return status === 401 && sendings.length === 2 && seenAt.length === 2 && sendings.every(isOnTheWay)
}

/**
 * @param {{ failures: Failure[] }[]} met All reports of a fleet.
 * @param {{ endOf: EndOf, seenAt: (path: string) => number[] }} service
 * @returns `failures`: a description of each request that failed while a token lived; `late`: how many others failed because both of their tokens ended
 * on their way.
 */
export function failuresIn(met, { endOf, seenAt }) {
  const all = met.flatMap((one) => one.failures)
  const failures = all.filter((failure) => !hasEndedOnTheWay(failure, endOf, seenAt(failure.path)))
  return {
    failures: failures.map((failure) => storyOf(failure, endOf, seenAt(failure.path))),
    late: all.length - failures.length,
  }
}

/**
 * Describes a failure, with instants relative to the end of each token, ms.
 *
 * @param {Failure} failure
 * @param {EndOf} endOf
 * @param {number[]} seenAt
 */
function storyOf({ code, status, path, sendings }, endOf, seenAt) {
  /** @param {number | undefined} at @param {string} token */
  const after = (at = NaN, token) => `${(at - (endOf(token) ?? NaN)).toFixed()} ms`
  const told = sendings.map(({ token, at }, index) => `sent ${after(at, token)}, seen ${after(seenAt[index], token)}`)
  const answer = status ?? 'without a response'
  return `${code} ${answer} ${path} (after the end of its token: ${told.join('; ') || 'never sent'})`
}
