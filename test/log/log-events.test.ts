import { describe, expect, it } from '@jest/globals'
import { Console } from 'node:console'
import { PassThrough } from 'node:stream'
import { logEvents, TokenError } from '../../src/index.ts'
import { failing, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { notifying } from '../support/notifying.ts'
import { settle } from '../support/watched-clock.ts'

const levels = () => {
  const lines: string[] = []
  const at = (level: string) => (line: string) => void lines.push(`${level} ${line}`)
  return { lines, log: { info: at('info'), warn: at('warn'), error: at('error') } }
}

const error = new TokenError('ERR_THROTTLED', 'responded with 429')
const at = Date.UTC(2026, 0, 1)
const suspicion = { fingerprint: '0a1b2c3d', rejectedAt: at } as const

describe('given a log of the events', () => {
  it.each([
    [
      'renewed',
      { by: 'refresh', because: 'due', attempts: 2, durationMs: 1_234, accessExpiresAt: at },
      'info axios-evergreen: renewed: refresh (due), 2 calls, 1.23 s; the access token expires at 2026-01-01T00:00:00.000Z',
    ],
    [
      'renewed',
      { by: 'obtain', because: 'cold', attempts: 1, durationMs: 1_000, accessExpiresAt: at },
      'info axios-evergreen: renewed: obtain (cold), 1 call, 1 s; the access token expires at 2026-01-01T00:00:00.000Z',
    ],
    [
      'retry',
      { attempt: 1, delayMs: 500, error },
      'warn axios-evergreen: retry: token request 1 failed, the next one follows in 0.5 s; ERR_THROTTLED: responded with 429',
    ],
    [
      'renewalFailed',
      { error, nextAttemptAt: at },
      'warn axios-evergreen: renewalFailed: no token request before 2026-01-01T00:00:00.000Z; ERR_THROTTLED: responded with 429',
    ],
    [
      'renewalFailed',
      { error, nextAttemptAt: Infinity },
      'warn axios-evergreen: renewalFailed: no token request until reset() or adopt(); ERR_THROTTLED: responded with 429',
    ],
    [
      'renewalFailed',
      { error: new TokenError('ERR_LOGIN_REQUIRED', 'log in'), nextAttemptAt: Infinity },
      'warn axios-evergreen: renewalFailed: no token request until adopt(); ERR_LOGIN_REQUIRED: log in',
    ],
    [
      'suspicious',
      { ...suspicion, severity: 'high', evidence: 'unexplained', action: 'stop' },
      'error axios-evergreen: suspicious: the service unexpectedly rejected refresh token 0a1b2c3d (high: unexplained): nothing on this side explains it, so an attacker may have used it. Find the fingerprint in the log of the service, revoke the tokens, and change the credentials; the manager stops until reset() or adopt()',
    ],
    [
      'suspicious',
      { ...suspicion, severity: 'low', evidence: 'concurrent-use', action: 'obtain' },
      'warn axios-evergreen: suspicious: the service unexpectedly rejected refresh token 0a1b2c3d (low: concurrent-use): another process may have used it at the same time; let all processes of the account share one store',
    ],
    [
      'suspicionSettled',
      { fingerprint: '0a1b2c3d', verdict: 'token-only' },
      'info axios-evergreen: suspicionSettled: refresh token 0a1b2c3d, token-only',
    ],
    [
      'anomaly',
      { kind: 'clock-skew', message: 'by\r\nan hour' },
      'warn axios-evergreen: anomaly: clock-skew; by an hour',
    ],
    ['storeUnavailable', { message: 'no answer' }, 'warn axios-evergreen: storeUnavailable: no answer'],
  ] as const)('when %s is emitted as %j, then it is one line', (name, event, line) => {
    const { lines, log } = levels()
    const { tokens, notify } = notifying()
    logEvents(tokens, log)
    notify(name, event as never)
    expect(lines).toEqual([line])
  })

  it.each([
    ['renewed', { by: 'adopted', because: 'due', attempts: 0, durationMs: 5, accessExpiresAt: 0 }],
    ['renewed', { by: 'adopted', because: 'refused', attempts: 1, durationMs: 5, accessExpiresAt: 0 }],
    ['loginChanged', { login: 'present', by: 'store', account: 'unknown' }],
  ] as const)('F386: when %s reports what was found in the store (%j), then there is no line', (name, event) => {
    const { lines, log } = levels()
    const { tokens, notify } = notifying()
    logEvents(tokens, log)
    notify(name as never, event as never)
    expect(lines).toEqual([])
  })

  it('when a manager runs, then a console has a line for each event until logging ends, and no token', async () => {
    const { source, tokens } = manage(new ScriptedSource({ pairs: true }))
    const printed = new PassThrough()
    const stop = logEvents(tokens, new Console(printed))
    await tokens.getAccessToken()
    source.script.push(failing(401), failing(400))
    await outcome(tokens.renew())
    await settle()
    const text = Array.from({ length: 9 }, () => printed.read() as Buffer | null).join('') // one chunk each, or all in one
    expect(text.match(/axios-evergreen: \w+/g)?.map((line) => line.slice(17))).toEqual([
      'renewed',
      'suspicious',
      'retry',
      'suspicionSettled',
      'renewalFailed',
    ])
    expect(text).not.toMatch(/access-|refresh-/)
    stop()
    await tokens.reset()
    await tokens.getAccessToken()
    await settle()
    expect(printed.read()).toBeNull()
  })

  it.each([
    [undefined, 'log must be an object, got undefined'],
    [{ info: () => undefined, warn: () => undefined }, 'log.error must be a function, got undefined'],
  ])('when the log is %j, then it is rejected', (log, message) => {
    expect(() => logEvents(manage().tokens, log as never)).toThrow(message)
  })

  it.each([
    [{ nam: 'a' }, "The options of logEvents: there is no 'nam', did you mean 'name'?"],
    [{ name: '' }, 'name must not be empty'],
    [{ fields: 1 }, 'fields must be true or false, got 1'],
  ])('when its options are %j, then they are rejected', (options, message) => {
    expect(() => logEvents(manage().tokens, levels().log, options as never)).toThrow(message)
  })
})
