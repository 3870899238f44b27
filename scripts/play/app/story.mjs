// What just happened, as a sentence. Pure functions of the facts. `key` identifies a sentence whatever its figures.

const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`
const requests = (count) => counted(count, 'request')
const calls = (count) => counted(count, 'token request')

/** What the switches do to both sides. */
export const TROUBLES = {
  down: 'The token service responds with 503. The API works.',
  slow: 'The token service takes 2.5 seconds.',
  throttled: 'The token service responds with 429 (Retry-After: 5).',
  clock: 'The clock of this machine is an hour ahead.',
  stolen: 'A thief has used both refresh tokens. The next refresh reveals it.',
  lost: 'The response to the next refresh will be lost.',
  refused: 'The API responds with 401 to every request.',
  tab: 'A second tab shares the login.',
}

/** @param {ReadonlySet<string>} on The switches that are on. */
export function worldOf(on) {
  return Array.from(on, (name) => TROUBLES[name]).join(' ') || 'All is well. Turn on a fault.'
}

/**
 * @param facts `login`: `pending`, `present` or `lost`, and `why` (the status of the refresh, or a code of the package or the service); `isShutOut`: the service rejects every login; `waiting`;
 * `hasToken`: a token is valid; since the last switch: `answered`, `failed`, `waited`, `calls`, `renewals`; `on`: the switches; `nextS`: seconds to the next token request.
 */
export function packageStory(facts) {
  const { login, why, isShutOut, waiting, hasToken, answered, failed, waited, calls: made, renewals, on, nextS } = facts
  if (login === 'pending') return sentence('pending', 'The user logs in.')
  if (login === 'lost')
    return sentence(`lost ${why}`, `${PACKAGE_LOST[why] ?? PACKAGE_LOST.refused} ${anew(isShutOut)}`)
  if (on.has('refused') && failed > 0)
    return sentence('refused', `The API rejects new tokens, too: ${requests(failed)} failed, with only ${calls(made)}.`)
  if (waiting > 0)
    return sentence('waiting', `${requests(waiting)} ${waiting === 1 ? 'waits' : 'wait'} for one token request.`)
  if (!hasToken && failed > 0)
    return sentence('ended', `The token has expired: ${requests(failed)} failed. The login is kept. ${nextIn(nextS)}`)
  if (made > renewals && hasToken && answered > 0)
    return sentence(
      'living',
      `No new token yet. ${requests(answered)} succeeded with the old token, which is still valid.`,
    )
  if (on.has('clock'))
    return sentence(
      `clock ${made > 0}`,
      `${requests(answered)} succeeded since, with ${calls(made)}. Lifetimes are measured with the monotonic clock.`,
    )
  if (renewals > 0 && failed > 0)
    return sentence('back', `There is a new token, without a new login. ${requests(failed)} failed.`)
  if (renewals > 0 && waited > 0)
    return sentence('waited', `There is a new token. ${requests(waited)} waited for it, and none failed.`)
  if (renewals > 0) return sentence('renewed', `The token was renewed before it expired. No request noticed.`)
  return sentence('fresh', 'The token will be renewed before it expires.')
}

const PACKAGE_LOST = {
  refused: 'The refresh token was used twice, so the service ended the login. The package reports “suspicious”.',
  'in-doubt':
    'The lost response contained the next refresh token. The package reports no theft. With reuseGraceMs the login survives.',
}

const anew = (isShutOut) => (isShutOut ? 'The user tries to log in, and cannot.' : 'The user logs in again.')
const nextIn = (seconds) =>
  seconds > 0 ? `The next token request follows in ${counted(seconds, 'second')}.` : 'A token request is sent now.'

export function handStory({ login, why, isShutOut, waiting, answered, failed, calls: made, renewals, on }) {
  if (login === 'pending') return sentence('pending', 'The user logs in.')
  if (login === 'lost') return sentence(`lost ${why}`, `${handLost(why)} ${anew(isShutOut)}`)
  if (on.has('refused') && failed > 0)
    return sentence('refused', `${requests(failed)} failed, and each caused its own token request: ${calls(made)}.`)
  if (waiting > 0)
    return sentence(
      'waiting',
      `${requests(waiting)} ${waiting === 1 ? 'waits' : 'wait'} for ${calls(Math.max(1, made - renewals))}.`,
    )
  if (on.has('clock')) return sentence('clock', `${requests(answered)} succeeded since. This code reads no clock.`)
  if (renewals > 0)
    return sentence('renewed', 'The token expired. A request was rejected, and sent again with a new token.')
  return sentence('fresh', 'When the token expires, a request will be rejected.')
}

function handLost(why) {
  if (why === 'stolen') return 'The refresh token was used twice, so the service ended the login. Nothing reports why.'
  if (why === 'reused') return 'Two rejected requests presented the same refresh token, so the service ended the login.'
  if (why === 0) return 'The response to the refresh was lost, so this code logged the user out.'
  return `The refresh got a ${why}, so this code logged the user out.`
}

const sentence = (key, text) => ({ key, text })
