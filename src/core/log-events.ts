import type { TokenErrorCode } from './errors.ts'
import type { TokenEvents } from './events.ts'
import { checkFunction, checkObject } from './option-checks.ts'
import type { TokenManager } from './token-manager.ts'

/** Receives the lines: `console`, or a logger such as pino's. */
export interface EventLog {
  info(line: string): void
  warn(line: string): void
  error(line: string): void
}

/**
 * Writes one readable line for each event of a manager: `info` for what went well, `warn` for what a person should look at,
 * `error` for a refresh token that may have been stolen. No line holds a token or a credential.
 *
 * @example
 * ```ts
 * import { logEvents } from 'axios-evergreen'
 *
 * const stop = logEvents(tokens, console)
 * ```
 * @returns a function that ends the log.
 * @throws {TypeError} when `log` lacks one of the three methods.
 */
export function logEvents(tokens: Pick<TokenManager, 'onAny'>, log: EventLog): () => void {
  checkObject('log', log)
  for (const level of ['info', 'warn', 'error'] as const) checkFunction(`log.${level}`, Reflect.get(log, level))
  return tokens.onAny((name, event) => {
    const [level, text] = LINES[name](event)
    // The message of a custom source may have line breaks.
    log[level](`axios-evergreen: ${text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`)
  })
}

const LINES: { readonly [Name in keyof TokenEvents]: (event: TokenEvents[Name]) => [keyof EventLog, string] } = {
  renewed: ({ by, because, attempts, durationMs, accessExpiresAt }) => [
    'info',
    `renewed: ${by} (${because}), ${attempts} ${attempts === 1 ? 'call' : 'calls'}, ${seconds(durationMs)}; the access token expires at ${instant(accessExpiresAt)}`,
  ],
  retry: ({ attempt, delayMs, error: { code, message } }) => [
    'warn',
    `retry: token call ${attempt} failed, the next one follows in ${seconds(delayMs)}; ${code}: ${message}`,
  ],
  renewalFailed: ({ nextAttemptAt, error: { code, message } }) => [
    'warn',
    `renewalFailed: no token call ${pauseOf(code, nextAttemptAt)}; ${code}: ${message}`,
  ],
  suspicious: ({ severity, evidence, fingerprint, action }) => [
    severity === 'high' ? 'error' : 'warn',
    `suspicious: the service refused refresh token ${fingerprint} before its time (${severity}: ${evidence}); ${action === 'stop' ? 'the manager stops until reset() or adopt()' : 'the manager needs a new pair'}`,
  ],
  suspicionSettled: ({ fingerprint, verdict }) => [
    'info',
    `suspicionSettled: refresh token ${fingerprint}, ${verdict}`,
  ],
  loginChanged: ({ login, by, account, reason }) => [
    'info',
    login === 'present'
      ? `loginChanged: somebody has logged in ${by} (${account} account)`
      : `loginChanged: a login is required (${reason ?? 'unknown'}), ended ${by}`,
  ],
  anomaly: ({ kind, message }) => ['warn', `anomaly: ${kind}; ${message}`],
  storeUnavailable: ({ message }) => ['warn', `storeUnavailable: ${message}`],
}

function seconds(ms: number): string {
  return `${Number((ms / 1_000).toFixed(2))} s`
}

function instant(at: number): string {
  return new Date(at).toISOString()
}

function pauseOf(code: TokenErrorCode, nextAttemptAt: number): string {
  if (nextAttemptAt < Infinity) return `before ${instant(nextAttemptAt)}`
  return code === 'ERR_LOGIN_REQUIRED' ? 'until adopt()' : 'until reset() or adopt()'
}
