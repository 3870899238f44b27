import { setTimeout as pause } from 'node:timers/promises'

/** After these a renewal tries again. */
const PASSING_FAILURES = [
  { status: 429, headers: { 'Retry-After': '1' } },
  { status: 429 },
  { status: 500 },
  { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad gateway</h1>' },
  { status: 503, headers: { 'Retry-After': '2' } },
  { status: 504 },
  { status: 408 },
  { drop: 'before' },
  { drop: 'after' },
  { hang: true },
  { corrupt: 'json' },
  { corrupt: 'type' },
  { corrupt: 'signature' },
  { corrupt: 'truncate' },
]
/** After these a renewal gives up. */
const FINAL_FAILURES = [
  { status: 400 },
  { status: 403 },
  { status: 404 },
  { status: 302, headers: { Location: '/elsewhere/' } },
]
const API_FAILURES = [
  { status: 401 },
  { status: 403 },
  { status: 500 },
  { status: 503 },
  { drop: 'before' },
  { drop: 'after' },
  { hang: true },
  { corrupt: 'json' },
  { corrupt: 'truncate' },
]

const kindOf = ({ variant }, { happens }) => (variant === 'B' && happens(0.7) ? 'refresh' : 'obtain')

/** What may go wrong: name, weight, and what is done to one account. */
const FAULTS = [
  [
    'token calls fail',
    6,
    (account, dice) =>
      account.service.do('failNext', kindOf(account, dice), dice.oneOf(PASSING_FAILURES), dice.whole(1, 3)),
  ],
  [
    'a token call fails for good',
    1,
    (account, dice) => account.service.do('failNext', kindOf(account, dice), dice.oneOf(FINAL_FAILURES)),
  ],
  [
    'requests to the API fail',
    6,
    ({ service }, dice) => service.do('failNext', 'resource', dice.oneOf(API_FAILURES), dice.whole(1, 10)),
  ],
  ['all access tokens are revoked', 2, ({ service }) => service.do('revokeAccessTokens')],
  ['the program renews', 1, ({ tokens }) => void tokens.renew().catch(() => undefined)],
  ['the program resets', 1, (account) => void account.reset()],
  ['the program resets as a token call has begun', 2, (account) => (account.resetsAtNextCall = true)],
  [
    'the program starts anew',
    1,
    (account, dice, callers) => {
      void account.restart()
      for (const caller of callers) caller.attach(account)
    },
  ],
]
const FAULTS_OF_B = [
  [
    'the refresh token is stolen and used',
    2,
    (account) => {
      account.causes += 1
      account.service.do('stealRefreshToken')
    },
  ],
  [
    'a good refresh token is refused',
    1,
    (account) => {
      account.causes += 1
      account.service.do('failNext', 'refresh', { status: 401 })
    },
  ],
]
const lot = (faults) => faults.flatMap((fault) => Array(fault[1]).fill(fault))
const LOTS = { A: lot(FAULTS), B: lot([...FAULTS, ...FAULTS_OF_B]) }

/** Makes faults, one after the other, until `signal` is aborted. The same dice throw the same faults. */
export async function misfortune(accounts, callers, tally, dice, signal) {
  while (!signal.aborted) {
    await pause(dice.between(100, 400), undefined, { signal }).catch(() => undefined)
    const account = dice.oneOf(accounts)
    const [name, , happen] = dice.oneOf(LOTS[account.variant])
    tally.add(account.variant, 'faults', name)
    happen(account, dice, callers)
    accounts.forEach(attend)
  }
}

/** Resets a manager that only a reset can mend, as an operator would. Otherwise most of the soak would wait. */
function attend(account) {
  const { phase, lastError } = account.tokens.status()
  const isStuck = phase === 'stopped' || (phase === 'cooling-down' && lastError === 'ERR_CREDENTIALS_REJECTED')
  if (isStuck) void account.reset()
}
