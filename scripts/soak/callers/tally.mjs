/** What must never happen, whatever fails. */
export const RULES = {
  foreign: 'a request carried the token of another account, or one that nobody issued',
  expired: 'a token that had expired was accepted',
  outdated: 'a request carried a token from before a reset that it came after',
  bare: 'a request that needs a token was sent without one',
  thrice: 'a request was sent more than twice, or twice with one token',
  mixedUp: 'a request got an answer that is not its own',
  stranger: 'a request failed with neither a TokenError, an axios error, nor the abort that was asked for',
  endless: 'a request did not end',
  twoCalls: 'two token calls of one manager were on their way at once',
  spent: 'a refresh token was presented again after it had, or may have, been used (three times are allowed after 5xx)',
  falseAlarm: 'a refresh token was called suspicious though nobody had stolen or refused it',
  crash: 'an unhandled rejection or an uncaught exception',
  warning: 'a warning of the process',
}

/** What is counted, in the order of the report. */
export const GROUPS = {
  faults: 'what went wrong on purpose, how often',
  requests: 'requests, by their end',
  '401s': 'the API refused a token: 401',
  calls: 'token calls, by their end',
  renewals: 'renewals: why, and by what call',
  givenUp: 'renewals that gave up, by their last error',
  suspicions: 'refresh tokens called suspicious: evidence, severity',
  settled: 'what came of the suspicions',
  anomalies: 'anomalies told',
  served: 'what the services saw: request, status (0: no answer)',
}

/** Counts by variant, and all breaches of a rule. */
export class Tally {
  counts = new Map(Object.keys(GROUPS).map((group) => [group, new Map()]))
  broken = new Map(Object.keys(RULES).map((rule) => [rule, []]))

  add(variant, group, what, times = 1) {
    const lines = this.counts.get(group)
    const line = lines.get(what) ?? { A: 0, B: 0 }
    lines.set(what, line)
    line[variant] += times
  }

  breach(rule, details) {
    this.broken.get(rule).push(details)
  }

  get breaches() {
    return [...this.broken.values()].reduce((sum, { length }) => sum + length, 0)
  }
}
