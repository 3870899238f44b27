import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosError } from 'axios'
import { isTokenError, type TokenErrorCode } from '../../src/index.ts'
import { CANARY, consoleLogged, expectNoCanary, logged, printed, recordOutput } from '../support/canary.ts'
import { part } from '../support/part.ts'
import { ANSWER_FAILURES } from './support/response-failures.ts'
import { API_FAILURES } from './support/api-failures.ts'
import { COURSE_FAILURES } from './support/course-failures.ts'
import { type FailurePath, request, type Told } from './support/failure-path.ts'
import { SECRETS } from './support/marked-service.ts'
import { type AdapterName, type Stage, startStage, type Variant } from './support/marked-stage.ts'
import { MISUSES } from './support/misuses.ts'

const PATHS = [...ANSWER_FAILURES, ...COURSE_FAILURES, ...API_FAILURES]

const CASES: { variant: Variant; adapter: AdapterName }[] = [
  { variant: 'A', adapter: 'http' },
  { variant: 'B', adapter: 'fetch' },
  ...part<{ variant: Variant; adapter: AdapterName }[]>(
    [
      { variant: 'A', adapter: 'fetch' },
      { variant: 'B', adapter: 'http' },
    ],
    [],
  ),
]

/** @returns The failure paths that are possible with this variant of the service and this adapter. */
function pathsOf(variant: Variant, adapter: AdapterName): FailurePath[] {
  const fits = <T>(only: T | undefined, actual: T) => only === undefined || only === actual
  return PATHS.filter((path) => fits(path.variant, variant) && fits(path.adapter, adapter))
}

/** The start of each secret's hash, one digit longer than a fingerprint. */
const DIGESTS = new RegExp(
  Object.values(SECRETS)
    .flatMap((secret) => [secret, ...[1, 2, 3, 4].map((n) => `${secret}-${n}`)])
    .map((secret) => createHash('sha256').update(secret).digest('hex').slice(0, 9))
    .join('|'),
)

/** Expects no secret in anything that the program holds at the end. */
function expectSilent(stage: Stage, ended: unknown, output: string): void {
  const { told, tokens, made, api } = stage
  for (const ours of [told, tokens.status(), tokens, ...made]) expectNoCanary(logged(ours))
  expect(logged(told)).not.toMatch(DIGESTS)
  expectNoCanary(inspect(api, { depth: 6 }))
  expectNoCanary(output)
  // Errors and responses of requests belong to axios, and hold their request. They are printed as users print them.
  if (isTokenError(ended)) expectNoCanary(logged(ended))
  else if (typeof ended === 'object' && ended !== null) expectNoCanary(printed(ended))
  const { response } = (ended ?? {}) as Partial<AxiosError>
  if (response) expectNoCanary(printed(response))
}

function namesOf(told: Stage['told']): string[] {
  const { anomaly, ...others } = told
  const events = Object.entries(others).filter(([, events]) => events.length > 0)
  return [...events.map(([name]) => name), ...anomaly.map(({ kind }) => `anomaly ${kind}`)]
}

describe.each(CASES)(
  'given marked secrets in every possible place (P15, F128, F129, F130; variant $variant, $adapter adapter)',
  ({ variant, adapter }) => {
    const expectNoSecret = async ({
      setting,
      tokenCalls,
      resources,
      act = request,
      ends,
      tells = [],
      unsent = false,
    }: FailurePath) => {
      const output = recordOutput()
      const stage = await startStage(variant, adapter, setting)
      stage.service.script(tokenCalls, resources)
      const ended = await act(stage)
      // The last events have not been delivered yet.
      await new Promise((resolve) => setImmediate(resolve))
      const { code, name } = (ended ?? {}) as { code?: string; name?: string }
      expect([ends].flat()).toContain(code ?? name)
      expect(namesOf(stage.told)).toEqual(expect.arrayContaining([...tells]))
      // If the service had received no secret, its absence elsewhere would prove nothing.
      expect(stage.service.seen.some((seen) => CANARY.test(seen.body))).toBe(!unsent)
      expectSilent(stage, ended, output())
      void stage.tokens.close()
    }
    it.each(pathsOf(variant, adapter))(
      'when $when, then no secret appears in errors, events, status or output',
      expectNoSecret,
    )
  },
)

/** @returns What `act` throws, or the reason with which its promise rejects. */
async function failureOf(act: () => unknown): Promise<Error> {
  try {
    await act()
  } catch (thrown) {
    return thrown as Error
  }
  throw new Error('nothing was thrown')
}

describe('given invalid options, next to secrets or made of them (P15, F130)', () => {
  const expectSilentMisuse = async (_: string, act: () => unknown) => {
    const error = await failureOf(act)
    expect([TypeError, RangeError]).toContain(error.constructor)
    expectNoCanary(logged(error))
  }

  it.each(MISUSES)('when %s, then the error shows no secret', expectSilentMisuse)
})

describe('given the table of failure paths (P15)', () => {
  it('when its final errors are collected, then they are all that a manager can reject with, except for those of a store and of a login', () => {
    const codes: Record<Exclude<TokenErrorCode, 'ERR_STORE_UNAVAILABLE' | 'ERR_LOGIN_REPLACED'>, true> = {
      ERR_CREDENTIALS_REJECTED: true,
      ERR_REFRESH_REJECTED: true,
      ERR_SUSPICIOUS_REFRESH_TOKEN: true,
      ERR_THROTTLED: true,
      ERR_TOKEN_SERVICE_UNAVAILABLE: true,
      ERR_TOKEN_REQUEST: true,
      ERR_TOKEN_RESPONSE: true,
      ERR_SIGNATURE: true,
      ERR_WAIT_TIMEOUT: true,
      ERR_REPLACED_TOO_SOON: true,
      ERR_CLOSED: true,
      ERR_LOGIN_REQUIRED: true,
      ERR_TOKEN_SOURCE: true,
    }
    const ends = new Set(PATHS.flatMap((path) => (typeof path.ends === 'string' ? [path.ends] : [])))
    expect([...ends].sort()).toEqual(Object.keys(codes).sort())
  })

  it('when its events are collected, then they are all that a manager can emit, except for those of a store, of a login and of a second manager', () => {
    const told: Record<
      Exclude<
        Told,
        | 'storeUnavailable'
        | `anomaly stor${'e' | 'a'}${string}`
        | 'loginChanged'
        | 'anomaly no-refresh-token'
        | 'anomaly second-manager'
        | 'anomaly tokens-unencrypted'
      >,
      true
    > = {
      renewed: true,
      retry: true,
      renewalFailed: true,
      suspicious: true,
      suspicionSettled: true,
      'anomaly clock-jumped': true,
      'anomaly clock-skew': true,
      'anomaly retry-after-clamped': true,
      'anomaly unexpected-response': true,
      'anomaly origin-not-allowed': true,
      'anomaly header-in-defaults': true,
      'anomaly header-leftover': true,
      'anomaly unexpected-lifetime': true,
      'anomaly not-revoked': true,
      'anomaly adapter-replaced': true,
      'anomaly custom-transport': true,
      'anomaly new-tokens-refused': true,
    }
    const tells = new Set(PATHS.flatMap((path) => path.tells ?? []))
    expect([...tells].sort()).toEqual(Object.keys(told).sort())
  })
})

describe('given the scan on which these tests rely', () => {
  const secret = SECRETS.password
  const hidden = Object.defineProperty({}, 'member', { value: secret, enumerable: false })

  it.each<[string, unknown]>([
    ['a message', new Error(secret)],
    ['a cause', new Error('outer', { cause: new Error('inner', { cause: { secret } }) })],
    ['a stack', Object.assign(new Error('outer'), { stack: secret })],
    ['a hidden member', { hidden }],
    ['a deep member', { a: { b: { c: { d: [new Map([['e', new Set([{ secret }])]])] } } } }],
    ['a member under a symbol', { [Symbol('s')]: secret }],
    ['a name', { [secret]: 1 }],
    ['its string form', { toString: () => secret }],
    ['its JSON', { toJSON: () => secret }],
    ['an error of an AggregateError', new AggregateError([new Error(secret)])],
    ['hex', { header: Buffer.from(`a:${secret}`).toString('hex') }],
    ...['', 'a', 'ab', 'abc'].map((before): [string, unknown] => [
      `base64 after ${before.length} bytes`,
      { header: Buffer.from(before + secret).toString('base64url') },
    ]),
  ])('when a secret is in %s, then it is found', (_, what) => {
    expect(logged(what)).toMatch(CANARY)
    expect(() => expectNoCanary(logged(what))).toThrow()
  })

  it('when an axios error or a response holds its request, then it is found', async () => {
    const stage = await startStage('A', 'http')
    const { origin } = stage.service
    const error = await failureOf(() => axios.post(`${origin}/api/none`, { secret }, { maxContentLength: 1 }))
    expect(printed(error)).toMatch(CANARY)
    const response = await axios.get(origin, { headers: { 'X-Gateway-Key': secret } })
    expect(consoleLogged(response)).toMatch(CANARY)
  })

  it.each([
    ['console.log', () => console.log('%s', secret)],
    ['console.error', () => console.error({ secret })],
    ['stdout', () => process.stdout.write(`${secret}\n`)],
    ['stderr', () => process.stderr.write(Buffer.from(secret))],
  ])('when something is written to %s, then it is recorded', (_, write) => {
    const output = recordOutput()
    write()
    expect(output()).toMatch(CANARY)
  })
})
