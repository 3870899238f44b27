import { type FailurePath, renewal, waiting } from './failure-path.ts'
import {
  breakingOff,
  dropping,
  garbled,
  granting,
  page,
  redirecting,
  refusing,
  type Reply,
  SECRETS,
  signedAt,
  silent,
} from './marked-service.ts'

const REJECTED = 'ERR_CREDENTIALS_REJECTED'
const THROTTLED = 'ERR_THROTTLED'
const UNAVAILABLE = 'ERR_TOKEN_SERVICE_UNAVAILABLE'
const MISDIRECTED = 'ERR_TOKEN_REQUEST'
const UNSIGNED = 'ERR_SIGNATURE'

const { body, query, proxyUser, proxyPassword } = SECRETS
const alike = (statuses: number[], ends: FailurePath['ends'], reply: (status: number) => Reply): FailurePath[] =>
  statuses.map((status) => ({ when: `it responds with ${status}`, ends: ends!, tokenCalls: reply(status) }))

/** The service rejects. */
const REFUSALS: FailurePath[] = [
  { when: 'the password is wrong', ends: REJECTED, tells: ['renewalFailed'], tokenCalls: refusing(400, '2006') },
  { when: 'its code is a sentence', ends: REJECTED, tokenCalls: refusing(400, `no ${SECRETS.login}`) },
  { when: 'its code is the password', ends: REJECTED, tokenCalls: refusing(400, SECRETS.password), variant: 'B' },
  {
    when: 'its code is the client secret',
    ends: REJECTED,
    tokenCalls: refusing(400, SECRETS.clientSecret),
    variant: 'A',
  },
  { when: 'its code is the key in a header', ends: REJECTED, tokenCalls: refusing(400, SECRETS.header) },
  ...alike([401, 403], REJECTED, refusing),
  { when: 'it throttles', ends: THROTTLED, tells: ['retry'], tokenCalls: refusing(429, 'throttled') },
  {
    when: 'it throttles for longer than the limit',
    ends: THROTTLED,
    tells: ['anomaly retry-after-clamped'],
    tokenCalls: refusing(429, 'throttled', { 'Retry-After': '86400' }),
  },
  {
    when: 'it throttles with a marked Retry-After',
    ends: THROTTLED,
    tokenCalls: refusing(429, undefined, { 'Retry-After': body }),
  },
  ...alike([500, 503, 504, 599], UNAVAILABLE, refusing),
  { when: 'a gateway responds with a page', ends: UNAVAILABLE, tells: ['retry'], tokenCalls: page(502) },
  ...alike([408, 425], UNAVAILABLE, refusing),
  ...alike([404, 405, 410, 415], MISDIRECTED, refusing),
  ...alike([301, 302, 303, 307, 308], MISDIRECTED, redirecting),
]

/** There is no complete response. */
const LOST: FailurePath[] = [
  { when: 'its responses are lost', ends: UNAVAILABLE, tokenCalls: dropping },
  { when: 'its responses break off halfway', ends: UNAVAILABLE, tokenCalls: breakingOff },
  {
    when: 'the timeout of a token request passes',
    ends: UNAVAILABLE,
    setting: { manager: { retry: { maxAttempts: 1 } } },
    tokenCalls: silent,
    async act(stage) {
      const { ended } = await waiting(stage)
      await stage.clock.advance(10_000)
      return ended
    },
  },
  {
    when: 'no server is listening at its address',
    ends: UNAVAILABLE,
    unsent: true,
    setting: { baseUrl: `http://127.0.0.1:1/api?key=${query}` },
  },
  {
    when: 'its name cannot be resolved',
    ends: UNAVAILABLE,
    unsent: true,
    adapter: 'http',
    setting: {
      baseUrl: `http://localhost:1/api?key=${query}`,
      transport: { lookup: (_name: string, _options: object, done: (error: Error) => void) => done(new Error(body)) },
    },
  },
  {
    when: 'the proxy does not exist',
    ends: UNAVAILABLE,
    unsent: true,
    adapter: 'http',
    setting: {
      transport: { proxy: { host: '127.0.0.1', port: 1, auth: { username: proxyUser, password: proxyPassword } } },
    },
  },
]

const expiry = /("(?:expires_in|access_expired_at)":)("[^"]*"|\d+)/

/** The service sends a complete but unusable response of status 200. */
const GARBAGE: FailurePath[] = (
  [
    ['half a document', garbled((issued) => issued.slice(0, -3))],
    ['a document with a mark where JSON breaks', garbled((issued) => issued.replace('"data"', body))],
    ['a page', page(200)],
    ['text', garbled((issued) => JSON.stringify(issued))],
    ['not UTF-8', garbled((issued) => Buffer.concat([Buffer.from(issued), Buffer.from([0xff])]))],
    ['too large', garbled((issued) => issued.padEnd(70_000, SECRETS.access))],
    ['of an unknown encoding', garbled((issued) => issued, { 'Content-Encoding': body })],
    ['an error', garbled((issued) => issued.replace('{', `{"errors":[{"detail":"${body}"}],`))],
    ['of another type', garbled((issued) => issued.replace('auth-token', body))],
    ['without a lifetime', garbled((issued) => issued.replace(expiry, `"${body}":0`))],
    ['with a mark for a lifetime', garbled((issued) => issued.replace(expiry, `$1"${body}"`))],
    ['with a token that cannot be sent', garbled((issued) => issued.replace('"access":"', '$&\\r\\n'))],
    ['with a token in a list', garbled((issued) => issued.replace(/"access":("[^"]*")/, '"access":[$1]'))],
    ['with marks for names', garbled(() => `{"${SECRETS.access}":{"${SECRETS.password}":1}}`)],
  ] as const
).map(([what, tokenCalls]) => ({ when: `its response is ${what}`, ends: 'ERR_TOKEN_RESPONSE', tokenCalls }))

/** Responses of Variant B that are old, or not from the service. */
const SIGNATURES: FailurePath[] = [
  {
    when: 'its responses are not signed',
    ends: UNSIGNED,
    variant: 'B',
    tokenCalls: garbled((issued) => issued.replace('"meta"', `"${body}"`)),
  },
  {
    when: 'its responses are signed wrongly',
    ends: UNSIGNED,
    variant: 'B',
    tokenCalls: garbled((issued) => issued.replace(/"sign":"/, `$&${body}`)),
  },
  {
    when: 'its response is an old one',
    ends: UNSIGNED,
    variant: 'B',
    tokenCalls: [granting, refusing(403), signedAt(0), signedAt(0), signedAt(0)],
    act: renewal,
  },
]

/** What the token service, or a gateway before it, does to a token request. */
export const ANSWER_FAILURES: readonly FailurePath[] = [...REFUSALS, ...LOST, ...GARBAGE, ...SIGNATURES]
