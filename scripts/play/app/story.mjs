// What just happened, in words. Everything here is pure: facts in, a sentence out. `key` tells sentences apart whose figures alone differ.

const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`
const requests = (count) => counted(count, 'request')
const calls = (count) => counted(count, 'token call')
const were = (count) => (count === 1 ? 'was' : 'were')

/** What the switches do to both sides. */
export const TROUBLES = {
  down: 'The token service answers 503 to every call. The API works.',
  slow: 'The token service takes 2.5 seconds for each answer.',
  throttled: 'The token service answers 429, and asks for a pause of 5 seconds.',
  clock: 'The clock of this machine is an hour ahead.',
  stolen: 'A thief has used both refresh tokens. The next refresh of each side will show it.',
  lost: 'The answer to the next refresh of each side will be lost on its way.',
  refused: 'The API answers 401 to every request, whatever the token.',
  tab: 'A second tab with the same login asks, too.',
}

/** @param {ReadonlySet<string>} on The switches that are on. */
export function worldOf(on) {
  return Array.from(on, (name) => TROUBLES[name]).join(' ') || 'All is well. Switch some trouble on.'
}

/**
 * @param facts `login`: `pending`, `present` or `lost`, and `why` (the status of the refresh, or a word of the package or the service); `isShutOut`: the service lets nobody log in; `waiting`;
 * `hasToken`: a token lives; since the last switch: `answered`, `failed`, `waited`, `calls`, `renewals`; `on`: the switches; `nextS`: seconds to the next token call.
 */
export function packageStory(facts) {
  const { login, why, isShutOut, waiting, hasToken, answered, failed, waited, calls: made, renewals, on, nextS } = facts
  if (login === 'pending') return told('pending', 'The person logs in.')
  if (login === 'lost') return told(`lost ${why}`, `${PACKAGE_LOST[why] ?? PACKAGE_LOST.refused} ${anew(isShutOut)}`)
  if (on.has('refused') && failed > 0)
    return told(
      'refused',
      `The API refuses new tokens, too: ${requests(failed)} failed. That cost ${calls(made)}, not one for each request.`,
    )
  if (waiting > 0)
    return told('waiting', `${requests(waiting)} ${waiting === 1 ? 'waits' : 'wait'} for one token call.`)
  if (!hasToken && failed > 0)
    return told('ended', `The token has ended: ${requests(failed)} failed. The login is kept. ${nextIn(nextS)}`)
  if (made > renewals && hasToken && answered > 0)
    return told(
      'living',
      `No new token yet. ${requests(answered)} ${were(answered)} answered with the token that still lives.`,
    )
  if (on.has('clock'))
    return told(
      `clock ${made > 0}`,
      `${requests(answered)} ${were(answered)} answered since, with ${calls(made)}. Lifetimes are counted on a clock that nobody can set.`,
    )
  if (renewals > 0 && failed > 0)
    return told('back', `A new token came, and nobody had to log in. ${requests(failed)} failed before.`)
  if (renewals > 0 && waited > 0)
    return told('waited', `A new token came. ${requests(waited)} waited for it, and none failed.`)
  if (renewals > 0) return told('renewed', `A new token came before the old one ended. No request noticed.`)
  return told('fresh', 'The token lives for 12 seconds. The next one will come before its end.')
}

const PACKAGE_LOST = {
  refused:
    'The service ended the login, because its refresh token was used twice. The package reports it: “suspicious”.',
  'in-doubt':
    'The lost answer held the next refresh token, and the service refuses the old one. The package reports no theft. If your service forgives for some seconds, set reuseGraceMs, and the login is saved.',
}

const anew = (isShutOut) => (isShutOut ? 'The person tries to log in, and cannot.' : 'The person logs in again.')
const nextIn = (seconds) =>
  seconds > 0 ? `The next token call is ${counted(seconds, 'second')} away.` : 'A token call is made now.'

export function handStory({ login, why, isShutOut, waiting, answered, failed, calls: made, renewals, on }) {
  if (login === 'pending') return told('pending', 'The person logs in.')
  if (login === 'lost') return told(`lost ${why}`, `${handLost(why)} ${anew(isShutOut)}`)
  if (on.has('refused') && failed > 0)
    return told('refused', `${requests(failed)} failed, and each made a token call of its own: ${calls(made)}.`)
  if (waiting > 0)
    return told(
      'waiting',
      `${requests(waiting)} ${waiting === 1 ? 'waits' : 'wait'} for ${calls(Math.max(1, made - renewals))}.`,
    )
  if (on.has('clock'))
    return told('clock', `${requests(answered)} ${were(answered)} answered since. This code reads no clock.`)
  if (renewals > 0)
    return told('renewed', 'The token ended. A request was refused, and was sent again with a new token.')
  return told('fresh', 'The token lives for 12 seconds. Then a request will be refused.')
}

function handLost(why) {
  if (why === 'stolen')
    return 'The service ended the login, because its refresh token was used twice. Nobody learns why.'
  if (why === 'reused')
    return 'Two refused requests presented the same refresh token. The service took that for a theft, and ended the login.'
  if (why === 0) return 'The answer to the refresh was lost, so this code logged the person out.'
  return `The refresh was answered ${why}, so this code logged the person out.`
}

const told = (key, text) => ({ key, text })
