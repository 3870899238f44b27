import { describe, expect, it } from '@jest/globals'
import { failuresIn } from '../../scripts/soak/fleet/verdict.mjs'

/** The tokens `a` and `b` expire at 1 000 and 2 000 ms. */
const ENDS: Record<string, number> = { a: 1_000, b: 2_000 }
const BOTH_ENDED: [string, number, number][] = [
  ['a', 999, 1_000],
  ['b', 1_999, 2_000],
]

const REFUSED = { status: 401 }

/** @param given The token of each attempt, when it was sent, and when it reached the API. */
function judged(given: [string, number, number][], answer: { status?: number } = REFUSED) {
  const sendings = given.map(([token, at]) => ({ token, at }))
  const seen = given.map(([, , seenAt]) => seenAt)
  const failure = { code: 'ERR_BAD_REQUEST', ...answer, path: '/wallet?of=worker-1-1', sendings }
  return failuresIn([{ failures: [failure] }, { failures: [] }], {
    endOf: (token: string) => ENDS[token],
    seenAt: (path: string) => (path === failure.path ? seen : []),
  })
}

describe('given a failed request of the fleet', () => {
  it('when both of its tokens expired between sending and the API, then it is late and not a failure', () => {
    expect(judged(BOTH_ENDED)).toEqual({ failures: [], late: 1 })
  })

  it.each<[string, [string, number, number][], { status?: number }]>([
    ['its first token had expired when it was sent', [['a', 1_000, 1_001], BOTH_ENDED[1]!], REFUSED],
    ['its second token had expired when it was sent', [BOTH_ENDED[0]!, ['b', 2_000, 2_001]], REFUSED],
    ['its second token was valid at the API', [BOTH_ENDED[0]!, ['b', 1_500, 1_999]], REFUSED],
    ['the service had not issued its token', [['c', 999, 1_000], BOTH_ENDED[1]!], REFUSED],
    ['it was sent only once', [BOTH_ENDED[0]!], REFUSED],
    ['it never reached the API', [], REFUSED],
    ['the API responded with another status', BOTH_ENDED, { status: 408 }],
    ['there was no response', BOTH_ENDED, {}],
  ])('when %s, then it counts as a failure', (_, sendings, answer) => {
    const { failures, late } = judged(sendings, answer)
    expect({ count: failures.length, late }).toEqual({ count: 1, late: 0 })
  })

  it('when it counts as a failure, then its report has the instants and no token', () => {
    expect(judged([BOTH_ENDED[0]!, ['b', 1_500, 1_999]]).failures).toEqual([
      'ERR_BAD_REQUEST 401 /wallet?of=worker-1-1 (after the end of its token: sent -1 ms, seen 0 ms; sent -500 ms, seen -1 ms)',
    ])
  })
})
