import type { TokenErrorCode } from '../core/errors.ts'
import type { LoginEvents } from '../core/events.ts'
import { checkedFlag, checkedText, checkObject, kindOf, ifGiven, readOptions } from '../core/option-checks.ts'
import type { NamedResource } from '../core/resource.ts'
import { member } from '../core/thrown.ts'
import type { TokenManager } from '../core/token-manager.ts'

/** Receives the lines: `console`, or a logger such as pino's. Each method receives the line, preceded by the fields if `fields` is true. */
export interface EventLog {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Every logger has parameters of its own.
  info(...args: any[]): unknown
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- As above.
  warn(...args: any[]): unknown
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- As above.
  error(...args: any[]): unknown
}

/**
 * Logs one readable line for each event of a manager: `info` for normal operation, `warn` for what needs attention,
 * `error` for a refresh token that may have been stolen. Renewals by other processes, and what the first check of the store finds, cause no line. A later
 * login or logout in another process does. No line contains a token or a credential.
 *
 * @example
 * ```ts
 * import { logEvents } from 'axios-evergreen'
 *
 * const stop = logEvents(tokens, console, { name: 'bakery' })
 * ```
 * @param options `name` (default: none) is part of each line's prefix, and distinguishes the lines of two managers. `fields: true` (default
 * false) calls `log.info(fields, line)`, as pino and bunyan expect. The first argument is an object with `event`, and those of `name`, `code`, `status`,
 * `serviceCode`, `attempt`, `by`, `because`, `durationMs`, `severity`, `evidence`, `fingerprint`, `kind` and `resource` that apply.
 * @returns A function that stops the logging.
 * @throws {TypeError} naming the option, or the method that `log` lacks.
 */
export function logEvents(
  tokens: Pick<TokenManager, 'onAny'>,
  log: EventLog,
  options: { name?: string | undefined; fields?: boolean | undefined } = {},
): () => void {
  checkObject('log', log)
  for (const level of ['info', 'warn', 'error'] as const) checkMethod(log, level)
  const { name, fields } = readOptions(
    'The options of logEvents',
    options,
    { name: ifGiven(checkedText), fields: checkedFlag },
    '',
  )
  return tokens.onAny((event: keyof LoginEvents, given) => {
    const [level, text] = LINES[event](given as never) ?? []
    if (level === undefined) return
    const names = [name, resourceOf(given)].filter((one) => one !== undefined)
    const prefix = names.length > 0 ? `axios-evergreen (${names.join(', ')})` : 'axios-evergreen'
    // The message of a custom source may have line breaks.
    const line = `${prefix}: ${text}`.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    log[level](...(fields ? [fieldsOf(event, name, given), line] : [line]))
  })
}

/** Not every logger has these methods: Nest's has `log` instead of `info`. */
function checkMethod(log: object, level: keyof EventLog): void {
  const method: unknown = Reflect.get(log, level)
  if (typeof method !== 'function')
    throw new TypeError(
      `log.${level} must be a function, got ${kindOf(method)}: pass console, or an object whose info, warn and error call the methods of your logger`,
    )
}

const resourceOf = (event: object) => member(event, 'resource') as NamedResource | undefined

const FIELDS = [
  ...['code', 'status', 'serviceCode', 'attempt', 'by', 'because'],
  ...['durationMs', 'severity', 'evidence', 'fingerprint', 'kind'],
]

/** @returns The fields to search logs by. The message of an error is left out: it is in the line. */
function fieldsOf(event: string, name: string | undefined, given: object): Readonly<Record<string, unknown>> {
  const read = (field: string) => member(given, field) ?? member(member(given, 'error'), field)
  const fields = [
    ['event', event],
    ['name', name],
    ['resource', resourceOf(given)?.toString()],
    ...FIELDS.map((field) => [field, read(field)]),
  ]
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined) as [string, unknown][])
}

/** Undefined: no line. */
type Line = [level: keyof EventLog, text: string] | undefined

const LINES: { readonly [Name in keyof LoginEvents]: (event: LoginEvents[Name]) => Line } = {
  renewed: ({ by, because, attempts, durationMs, accessExpiresAt }) =>
    // Another owner of the store renewed, and logs it. Only `adopt()` adopts with the cause `forced`.
    by === 'adopted' && because !== 'forced'
      ? undefined
      : [
          'info',
          `renewed: ${by} (${because}), ${attempts} ${attempts === 1 ? 'call' : 'calls'}, ${seconds(durationMs)}; the access token expires at ${instant(accessExpiresAt)}`,
        ],
  retry: ({ attempt, delayMs, error: { code, message } }) => [
    'warn',
    `retry: token request ${attempt} failed, the next one follows in ${seconds(delayMs)}; ${code}: ${message}`,
  ],
  renewalFailed: ({ nextAttemptAt, error: { code, message } }) => [
    'warn',
    `renewalFailed: no token request ${pauseOf(code, nextAttemptAt)}; ${code}: ${message}`,
  ],
  suspicious: ({ severity, evidence, fingerprint, action }) => [
    severity === 'high' ? 'error' : 'warn',
    `suspicious: the service unexpectedly rejected refresh token ${fingerprint} (${severity}: ${evidence}): ${EXPLAINED[evidence]}${action === 'stop' ? '; the manager stops until reset() or adopt()' : ''}`,
  ],
  suspicionSettled: ({ fingerprint, verdict }) => [
    'info',
    `suspicionSettled: refresh token ${fingerprint}, ${verdict}`,
  ],
  loginChanged: ({ login, by, account, reason }) =>
    // No user has just logged in or out: a server may find a login for each request.
    by === 'store'
      ? undefined
      : [
          'info',
          login === 'present'
            ? `loginChanged: a user logged in ${by} (${account} account)`
            : `loginChanged: a login is required (${reason ?? 'unknown'} ${by})`,
        ],
  anomaly: ({ kind, message }) => ['warn', `anomaly: ${kind}; ${message}`],
  storeUnavailable: ({ message }) => ['warn', `storeUnavailable: ${message}`],
}

/** What may explain the rejection of a refresh token, and what to do. */
const EXPLAINED: Readonly<Record<LoginEvents['suspicious']['evidence'], string>> = {
  unexplained:
    'nothing on this side explains it, so an attacker may have used it. Find the fingerprint in the log of the service, revoke the tokens, and change the credentials',
  'revoked-or-used':
    'the user has logged out elsewhere, or an attacker has used it. Find the fingerprint in the log of the service; the user has to log in again',
  'own-unknown-outcome':
    'it may have been used before, in a token request whose outcome is unknown, or that the store has lost; no action is needed',
  'concurrent-use':
    'another process may have used it at the same time; let all processes of the account share one store',
  'clock-uncertain': 'it may have expired; check the clocks of this machine and of the service',
  'store-unreachable': 'another process may have used it while the store could not be reached; repair the store',
  'expiry-unknown': 'it may have expired, or may have been revoked: the service does not report its lifetime',
  'credentials-changed':
    'the credentials have changed since it was issued; if nobody on your side changed them, treat it as theft',
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
