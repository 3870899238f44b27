import axios from 'axios'
import { TokenError, type TokenSource } from '../../../src/index.ts'
import type { LoginManager } from '../../../src/login/index.ts'
import { ending, type FailurePath, renewal, request, waiting } from './failure-path.ts'
import { garbled, granting, type MarkedService, page, refusing, SECRETS, signedAt, silent } from './marked-service.ts'

const UNAVAILABLE = 'ERR_TOKEN_SERVICE_UNAVAILABLE'
/** On the virtual clock. */
const TWO_MINUTES_AGO = Date.UTC(2026, 0, 1) - 120_000
const { body, clientId, clientSecret, login, password, access, refresh } = SECRETS

const refusingRefresh = [granting, refusing(401, '2007')]

/** A refresh token is rejected before its expiry. */
const SUSPICIONS: FailurePath[] = [
  {
    when: 'a refresh token is suspicious, and the credentials are accepted',
    variant: 'B',
    tells: ['suspicious', 'suspicionSettled', 'renewed'],
    tokenCalls: refusingRefresh,
    act: renewal,
  },
  {
    when: 'a refresh token is suspicious, and the credentials are rejected too',
    variant: 'B',
    ends: 'ERR_CREDENTIALS_REJECTED',
    tells: ['suspicious', 'suspicionSettled'],
    tokenCalls: [...refusingRefresh, refusing(400, '2006')],
    act: renewal,
  },
  {
    when: 'a refresh token is suspicious, and everything stops',
    variant: 'B',
    ends: 'ERR_SUSPICIOUS_REFRESH_TOKEN',
    tells: ['suspicious', 'renewalFailed'],
    tokenCalls: refusingRefresh,
    setting: { manager: { onSuspicious: 'stop' } },
    act: renewal,
  },
  {
    when: 'a refresh token is rejected, and no attempt is left',
    variant: 'B',
    ends: 'ERR_REFRESH_REJECTED',
    tokenCalls: refusingRefresh,
    setting: { manager: { retry: { maxAttempts: 1 } } },
    act: renewal,
  },
  {
    when: 'the response to a refresh is a page',
    variant: 'B',
    tells: ['retry', 'renewed'],
    tokenCalls: [granting, page(200)],
    act: renewal,
  },
]

/** Callers wait, and something ends their wait. */
const WAITING: FailurePath[] = [
  {
    when: 'a caller needs a token while a failed renewal cools down',
    ends: UNAVAILABLE,
    tokenCalls: refusing(503),
    async act(stage) {
      await request(stage)
      return request(stage)
    },
  },
  {
    when: 'a caller waits up to the limit',
    ends: 'ERR_WAIT_TIMEOUT',
    tokenCalls: [refusing(503), silent],
    setting: { manager: { exchangeTimeoutMs: 60_000 } },
    async act(stage) {
      const { ended } = await waiting(stage, { calls: 2 })
      await stage.clock.advance(30_000)
      return ended
    },
  },
  {
    when: 'a request has waited for its own timeout',
    ends: ['ECONNABORTED'],
    tokenCalls: silent,
    setting: { instance: { timeout: 500 } },
    async act(stage) {
      const { ended } = await waiting(stage)
      await stage.clock.advance(500)
      return ended
    },
  },
  {
    when: 'the caller aborts',
    ends: ['ERR_CANCELED'],
    tokenCalls: silent,
    async act(stage) {
      const controller = new AbortController()
      const { ended } = await waiting(stage, { signal: controller.signal })
      controller.abort()
      return ended
    },
  },
  {
    when: 'the manager is closed while callers wait',
    ends: 'ERR_CLOSED',
    tokenCalls: silent,
    async act(stage) {
      const { ended } = await waiting(stage)
      void stage.tokens.close()
      return ended
    },
  },
  {
    when: 'a logout revokes nothing',
    ends: ['no-endpoint'],
    tells: ['anomaly not-revoked'],
    async act({ tokens }) {
      await tokens.getAccessToken()
      const result = await (tokens as LoginManager).logout()
      return { code: result.revoked ? '' : result.reason }
    },
  },
  {
    when: 'the manager has been closed',
    ends: 'ERR_CLOSED',
    async act(stage) {
      await request(stage)
      await stage.tokens.close()
      return request(stage)
    },
  },
  {
    when: 'the manager is reset while callers wait, and the next token request fails',
    ends: 'ERR_CREDENTIALS_REJECTED',
    tokenCalls: [silent, refusing(400, '2006')],
    async act(stage) {
      const { ended } = await waiting(stage)
      void stage.tokens.reset()
      await stage.clock.advance(10_000)
      return ended
    },
  },
]

/** A rejected token cannot be replaced. */
const REPLACING: FailurePath[] = [
  {
    when: 'tokens are rejected faster than they may be replaced',
    ends: 'ERR_REPLACED_TOO_SOON',
    async act({ tokens }) {
      const second = await tokens.replaceAccessToken(await tokens.getAccessToken())
      return ending(tokens.replaceAccessToken(second))
    },
  },
  {
    when: 'the rejected token is issued again',
    ends: 'ERR_TOKEN_RESPONSE',
    tokenCalls: garbled((issued) => issued.replace(/"canary-access[^"]*"/, `"${access}"`)),
    act: async ({ tokens }) => ending(tokens.replaceAccessToken(await tokens.getAccessToken())),
  },
]

/** The error that axios gives to a program that makes its own token request. */
async function axiosError({ origin }: MarkedService): Promise<unknown> {
  const config = {
    headers: { Authorization: `Bearer ${access}` },
    auth: { username: SECRETS.user, password: SECRETS.pass },
  }
  return ending(axios.post(`${origin}/api/token/?key=${SECRETS.query}`, { clientId, clientSecret, refresh }, config))
}

const custom = (obtain: (service: MarkedService) => Promise<unknown>, kept: object = {}) => ({
  source: (service: MarkedService) => ({ id: login, obtain: () => obtain(service), ...kept }) as TokenSource,
})
const thrown = (what: (service: MarkedService) => unknown) =>
  custom(async (service) => {
    throw (await what(service)) as Error
  })

/** A custom token source fails. */
const CUSTOM: FailurePath[] = [
  {
    when: 'a source throws an axios error',
    ends: 'ERR_CREDENTIALS_REJECTED',
    tokenCalls: refusing(400),
    setting: thrown(axiosError),
  },
  {
    when: 'a source cannot obtain without a user',
    ends: 'ERR_LOGIN_REQUIRED',
    setting: thrown(() => new TokenError('ERR_LOGIN_REQUIRED', 'Log in')),
    unsent: true,
  },
  {
    when: 'a source throws a TypeError that contains secrets',
    ends: 'ERR_TOKEN_SOURCE',
    setting: thrown(() => new TypeError(`${password} is not a function`)),
    unsent: true,
  },
  {
    when: 'a source throws an axios error as the cause of a TokenError',
    ends: 'ERR_CREDENTIALS_REJECTED',
    tokenCalls: refusing(400),
    setting: thrown(async (service) => {
      const cause = await axiosError(service)
      return new TokenError('ERR_CREDENTIALS_REJECTED', 'refused', { cause, outcome: 'rejected' })
    }),
  },
  ...(
    [
      [
        'an error that contains secrets',
        () => Object.assign(new Error(password, { cause: new Error(refresh) }), { access }),
      ],
      ['a secret', () => password],
      ['an object with secrets', () => ({ message: password, login, code: { access } })],
      ['nothing', () => undefined],
    ] as const
  ).map(
    ([what, throws]) =>
      ({ when: `a source throws ${what}`, ends: UNAVAILABLE, setting: thrown(throws), unsent: true }) as const,
  ),
  ...(
    [
      ['a token without a lifetime', { accessToken: access }],
      ['a refresh token in a list', { accessToken: access, accessLifetimeMs: 60_000, refreshToken: [refresh] }],
      ['a bare token', access],
    ] as const
  ).map(
    ([what, grant]) =>
      ({
        when: `a source returns ${what}`,
        ends: 'ERR_TOKEN_SOURCE',
        setting: custom(async () => grant),
        unsent: true,
      }) as const,
  ),
  {
    when: 'a source returns a token with a line break',
    ends: 'ERR_TOKEN_RESPONSE',
    setting: custom(async () => ({ accessToken: `${access}\r\n`, accessLifetimeMs: 60_000 })),
    unsent: true,
  },
  {
    when: 'a source returns seconds instead of milliseconds',
    tells: ['anomaly unexpected-lifetime', 'renewed'],
    setting: custom(async () => ({ accessToken: access, accessLifetimeMs: 60 })),
    unsent: true,
  },
]

/** A user function for credentials, or for random numbers, fails. */
const FUNCTIONS: FailurePath[] = (
  [
    ['throws an error that contains them', () => Promise.reject(Object.assign(new Error(password), { clientSecret }))],
    ['throws an error whose cause contains them', () => Promise.reject(new Error('sealed', { cause: password }))],
    ['throws a value that is not an Error', () => Promise.reject(password as unknown as Error)],
  ] as const
).map(([what, credentials]) => ({
  when: `the credentials function ${what}`,
  ends: UNAVAILABLE,
  setting: { credentials },
  unsent: true,
}))

const WRONG_CREDENTIALS: FailurePath[] = (
  [
    ['returns half of them', () => ({ clientId, login })],
    ['returns them under other names', () => ({ client_id: clientId, client_secret: clientSecret, user: login })],
    [
      'returns them with NUL',
      () => ({ clientId, login, clientSecret: `${clientSecret}\0`, password: `${password}\0` }),
    ],
    ['returns a string', () => password],
  ] as const
).map(([what, credentials]) => ({
  when: `the credentials function ${what}`,
  ends: 'ERR_TOKEN_SOURCE',
  setting: { credentials },
  unsent: true,
}))

FUNCTIONS.push(
  {
    when: 'the credentials function fails when a refresh response must be verified',
    variant: 'B',
    ends: UNAVAILABLE,
    setting: { credentials: (nth) => (nth === 1 ? { login, password } : Promise.reject(new Error(password))) },
    tokenCalls: [granting, signedAt(TWO_MINUTES_AGO)],
    act: renewal,
  },
  {
    when: 'the random function throws',
    ends: 'ERR_TOKEN_SOURCE',
    unsent: true,
    setting: {
      manager: {
        random: () => {
          throw new Error(body)
        },
      },
    },
  },
)

/** Nothing fails, but something odd is reported. */
const ODDITIES: FailurePath[] = [
  {
    when: 'a response has a list as its id',
    tells: ['anomaly unexpected-response', 'renewed'],
    tokenCalls: garbled((issued) => issued.replace('"id":"7"', `"id":["${body}"]`)),
  },
  {
    when: 'a response is two minutes old',
    variant: 'B',
    tells: ['anomaly clock-skew'],
    tokenCalls: signedAt(TWO_MINUTES_AGO),
  },
  {
    when: 'the machine has slept',
    tells: ['anomaly clock-jumped'],
    async act(stage) {
      await request(stage)
      stage.clock.stepWall(3_600_000)
      const ended = request(stage)
      // The gap between two renewals.
      await stage.clock.advance(1_000)
      return ended
    },
  },
]

/** What happens to callers, and to user code, on the way to a token. */
export const COURSE_FAILURES: readonly FailurePath[] = [
  ...SUSPICIONS,
  ...WAITING,
  ...REPLACING,
  ...CUSTOM,
  ...FUNCTIONS,
  ...WRONG_CREDENTIALS,
  ...ODDITIES,
]
