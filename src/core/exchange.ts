import { withinLimit } from './deadline.ts'
import { digestOf } from './digest.ts'
import { errorWith, outcomeOf, TokenError } from './errors.ts'
import type { Events } from './events.ts'
import { LONGEST_LIFETIME_MS } from './freshness.ts'
import type { HeldToken } from './held-token.ts'
import type { Account, Settings } from './account.ts'
import type { Rules } from './situation.ts'
import { runWithin } from './within-call.ts'
import { grantOfSource } from './grant.ts'
import {
  CREDENTIALS,
  type Exchange,
  type ExchangeContext,
  INTERNAL,
  type InternalContext,
  offers,
  type PackageContext,
  type TokenGrant,
  type TokenSource,
} from './token-source.ts'
import { member } from './thrown.ts'
import { isOfLogin, type Lease } from './lease.ts'
import type { AdoptedTokens, NewTokens, StoredTokens } from './stored-tokens.ts'
import { bare, type Whole } from './whole.ts'
import { defined } from './defined.ts'

const NO_TOKENS = { context: undefined, credentials: undefined }

/** No service issues tokens with a shorter lifetime on purpose: the source returned seconds instead of milliseconds. */
const SHORT_LIFETIME_MS = 5_000

/** The result of one exchange. With a `flaw`, only the refresh token can be used (`GrantDetails`). */
export interface Exchanged {
  readonly tokens: NewTokens
  readonly flaw: TokenError | undefined
}

/**
 * Makes one exchange: a refresh if a refresh token is given, otherwise an obtain.
 *
 * @param tokens The token set that the refresh token belongs to. The new one keeps its `context` and `credentials`, unless the exchange returns
 * others.
 * @param onRotated Called if the refresh failed, and the credentials have changed since the tokens were obtained.
 * @throws {TokenError} What the source throws, as `readThrown` converts it; `ERR_TOKEN_SERVICE_UNAVAILABLE` at the timeout;
 * `ERR_TOKEN_RESPONSE` or `ERR_TOKEN_SOURCE` for an unusable grant.
 */
export async function exchange(
  account: Account,
  refreshToken: string | undefined,
  holdsProcess: boolean,
  tokens: Pick<NewTokens, 'context' | 'credentials'> = NO_TOKENS,
  onRotated?: () => unknown,
): Promise<Exchanged> {
  const { settings, login } = account
  // Lifetimes count from here. Counted from the response, they would be too long by the duration of the request.
  const sentAt = settings.tokenClock.start()
  const { context, credentials } = refreshToken === undefined ? NO_TOKENS : tokens
  let digest: Promise<string | undefined> | undefined
  const hasCredentials = (text: string) =>
    void (digest = digestFor(settings.source, text, 4).then((found) => (account.credentialsDigest = found)))
  const kind = refreshToken === undefined ? 'obtain' : 'refresh'
  const call = callOf(settings.source, refreshToken)
  const wasOffline = isOffline()
  try {
    const about = { context, exchange: kind, hasCredentials } as const
    const onSend = (known: Known) => (account.awaited = () => awaitedIn(known, settings.exchangeTimeoutMs))
    const given = await runWithin(account, () => withinExchange(settings, holdsProcess, call, about, onSend))
    const { tokens: granted, flaw } = await readGiven(account, given, refreshToken, sentAt)
    const own = (await digest) ?? credentials
    return { tokens: { ...granted, context: granted.context ?? context, credentials: own }, flaw }
  } catch (thrown) {
    const error = errorOffline(settings.readThrown(thrown, kind, isOfLogin(settings.rules)), wasOffline)
    if (credentials !== undefined && ((await digest) ?? credentials) !== credentials) onRotated?.()
    throw login?.errorOf(error, kind) ?? error
  } finally {
    account.awaited = undefined
  }
}

function callOf(source: TokenSource, refreshToken: string | undefined) {
  return (about: ExchangeContext) =>
    refreshToken !== undefined && offers(source, 'refresh') ? source.refresh(refreshToken, about) : source.obtain(about)
}

/** @param sentAt When the request was sent, on the token clock. */
async function readGiven(
  account: Account,
  given: unknown,
  refreshToken: string | undefined,
  sentAt: number,
): Promise<Exchanged> {
  const { source, tokenClock, events } = account.settings
  const { grant, flaw, problems, isLifetimeAssumed } = grantOfSource(given as TokenGrant, refreshToken)
  if (refreshToken === undefined && isLifetimeAssumed !== true) checkNew(grant, account.current)
  if (problems.length > 0)
    events.anomaly('unexpected-response', `The token source returned unusable members: ${problems.join('; ')}`)
  const ageMs = tokenClock.now() - sentAt
  return { tokens: newTokens(grant, account, ageMs, await subjectOf(source, grant)), flaw }
}

/** A cached response contains the expired token with its original lifetime. @throws {TokenError} */
function checkNew({ accessToken }: TokenGrant, before: HeldToken | undefined): void {
  if (accessToken !== before?.stored.accessToken || before.validToken !== undefined) return
  const message = 'The service returned the expired access token again: the response may come from a cache'
  throw new TokenError('ERR_TOKEN_RESPONSE', message, { outcome: 'accepted' })
}

/**
 * Calls the source once, with a timeout of the manager's own: a source may ignore its signal, and the timeout of axios does not end a slow response
 * body.
 */
export function withinExchange<Result>(
  { source, clock, events, exchangeTimeoutMs }: Settings,
  holdsProcess: boolean,
  call: (context: ExchangeContext) => Result | Promise<Result>,
  { hasCredentials, ...named }: About,
  onBegin: (known: Known) => unknown = () => undefined,
): Promise<Result> {
  const deadline = new AbortController()
  const known: Known = {
    exchange: named.exchange,
    address: member(source, 'origin'),
    awaited: undefined,
    isSent: false,
  }
  onBegin(known)
  const internal = {
    limitMs: exchangeTimeoutMs,
    holdsProcess,
    waitsFor: (what: string | undefined) => void (known.awaited = what),
    sendsTo: (address: string) => void Object.assign(known, { address, isSent: true }),
    hasCredentials,
  }
  const report = (...problems: Parameters<Events['anomaly']>) => void events.anomaly(...problems)
  const members = bare(defined({ signal: deadline.signal, clock, report, ...named }))
  const context: PackageContext = Object.freeze(Object.assign(members, { [INTERNAL]: internal }))
  const atLimit = () => {
    const error = errorAtLimit(exchangeTimeoutMs, known)
    deadline.abort(error)
    return error
  }
  return withinLimit((async () => call(context))(), { clock, ms: exchangeTimeoutMs, atLimit })
}

/** The circumstances of a call to the source. */
type About = Whole<Pick<ExchangeContext, 'context' | 'exchange'> & Pick<InternalContext, 'hasCredentials'>>

/** The state of a call to the source, for messages. */
interface Known {
  readonly exchange: Exchange | undefined
  /** What the source waits for before it sends the request. */
  awaited?: string | undefined
  address: unknown
  /** A source of this package has sent the request. Such a source never waits for the manager. */
  isSent?: boolean
}

const MAYBE_ITSELF =
  '. A source that calls this manager, or an instance attached to it, waits for itself: use a plain instance'

function callIn({ address, exchange: kind }: Known): string {
  return `${kind ?? 'token'} request${typeof address === 'string' ? ` to ${address}` : ' of the token source'}`
}

function awaitedIn(known: Known, limitMs: number): string {
  const what = known.awaited === undefined ? `the ${callIn(known)}` : known.awaited.replace(/^The /, 'the ')
  return `${what}, limited to exchangeTimeoutMs (${limitMs} ms)`
}

function errorAtLimit(limitMs: number, known: Known): TokenError {
  const { awaited, isSent } = known
  const said =
    awaited === undefined
      ? `The ${callIn(known)} got no complete response within ${limitMs} ms: if the service needs longer, raise exchangeTimeoutMs`
      : `${awaited} returned nothing within ${limitMs} ms: no token request was sent`
  const message = isSent ? said : `${said}${MAYBE_ITSELF}`
  const outcome = awaited === undefined ? 'unknown' : 'not-sent'
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', message, { outcome })
}

/** @returns A digest of the user's name, different for each source. Undefined if the grant has no `subject`, or the runtime lacks WebCrypto. */
export async function subjectOf(
  source: TokenSource,
  { subject }: Pick<TokenGrant, 'subject'>,
): Promise<string | undefined> {
  return subject === undefined ? undefined : digestFor(source, subject, 32)
}

/**
 * @param digits The number of hex digits. Only four for credentials: a stolen digest then does not help to guess a weak password, though one
 * change in 65 536 goes unnoticed.
 */
function digestFor({ id }: TokenSource, text: string, digits: number): Promise<string | undefined> {
  // Pages on plain http lack WebCrypto: the manager then cannot distinguish users.
  return digestOf('SHA-256', `${id}\n${text}`).then(
    (digest) => digest.slice(0, digits),
    () => undefined,
  )
}

/** The digest of constant credentials, which is known before the first exchange. A rejection of other credentials does not stop this manager (F355). */
export async function credentialsDigestOf(source: TokenSource): Promise<string | undefined> {
  const read = member(source, CREDENTIALS)
  const text: unknown = typeof read === 'function' ? Reflect.apply(read, source, []) : undefined
  return typeof text === 'string' ? digestFor(source, text, 4) : undefined
}

/** Whether this is a browser that reports that it is offline. */
function isOffline(): boolean {
  return (globalThis as { readonly navigator?: { readonly onLine?: boolean } }).navigator?.onLine === false
}

/** XMLHttpRequest and fetch do not report why there was no response. Offline, no byte of the request was sent: the refresh token is unused. */
function errorOffline(error: TokenError, wasOffline: boolean): TokenError {
  const { code, status } = error
  const isUnclear = code === 'ERR_TOKEN_SERVICE_UNAVAILABLE' && status === undefined && outcomeOf(error) === 'unknown'
  return wasOffline && isUnclear && isOffline() ? errorWith(error, { outcome: 'not-sent' }) : error
}

/** Converts a grant to the tokens to store. Reports a lifetime that looks like seconds. @param ageMs The age of the grant. */
export function newTokens(
  { accessToken, refreshToken, refreshLifetimeMs, refreshAfterMs, context, ...grant }: Readonly<TokenGrant>,
  { current, settings: { events, rules } }: Pick<Account, 'current' | 'settings'>,
  ageMs = 0,
  subject?: string,
): Omit<Whole<AdoptedTokens>, 'version'> {
  const accessLifetimeMs = Math.min(grant.accessLifetimeMs, LONGEST_LIFETIME_MS)
  const before = current?.stored
  // Some services return the same token until it expires, each time with its remaining lifetime.
  const hadMore = before?.accessToken === accessToken && before.accessLifetimeMs > accessLifetimeMs
  if (accessToken !== '' && accessLifetimeMs < SHORT_LIFETIME_MS && !hadMore)
    events.anomaly(
      'unexpected-lifetime',
      `The lifetime of the access token is only ${Math.round(accessLifetimeMs)} ms: did the source return seconds?`,
    )
  const dueAfterMs = Math.min(refreshAfterMs ?? Infinity, dueBefore(refreshLifetimeMs, rules))
  return {
    accessToken,
    accessLifetimeMs,
    accessRemainingMs: accessLifetimeMs - ageMs,
    subject,
    refreshToken,
    refreshRemainingMs: refreshLifetimeMs === undefined ? undefined : refreshLifetimeMs - ageMs,
    dueRemainingMs: dueAfterMs < Infinity ? dueAfterMs - ageMs : undefined,
    context,
    ...{ login: undefined, loginId: undefined, credentials: undefined, fingerprint: undefined, known: undefined },
  }
}

/** When renewal is due because the refresh token expires, in ms. Infinity if its lifetime is unknown or over. */
function dueBefore(refreshMs = Infinity, { refreshShare = Infinity }: Rules): number {
  return refreshMs > 0 ? refreshMs * refreshShare : Infinity
}

/** The refresh token that an exchange presented, and its lease. */
export interface Presented {
  readonly lease: Pick<Lease, 'tokens'>
  readonly refreshToken: string | undefined
}

/**
 * @returns The tokens of an exchange. A refresh keeps the subject of its token set, whatever the response names, and keeps its access token if the
 * response has no usable one. A refresh token that is reusable, or of a `person`, is kept if the response has no other (RFC 6749, section 6).
 */
export function receivedTokens(
  { lease, refreshToken }: Presented,
  { tokens: granted, flaw }: Exchanged,
  { keepsMs, rules }: Pick<Settings, 'keepsMs' | 'rules'>,
  sinceLeaseMs: number,
): NewTokens {
  if (refreshToken === undefined) return granted
  const { subject, refreshRemainingMs: leftMs } = lease.tokens ?? granted
  const access = flaw && lease.tokens && accessOf(lease.tokens, sinceLeaseMs)
  const received = { ...granted, ...access, subject: subject ?? granted.subject }
  if (keepsMs < Infinity || granted.refreshToken !== undefined) return received
  if (leftMs === undefined) return { ...received, refreshToken }
  const refreshRemainingMs = leftMs - sinceLeaseMs
  const dueRemainingMs = Math.min(granted.dueRemainingMs ?? Infinity, dueBefore(refreshRemainingMs, rules))
  return {
    ...received,
    refreshToken,
    refreshRemainingMs,
    dueRemainingMs: dueRemainingMs < Infinity ? dueRemainingMs : undefined,
  }
}

function accessOf({ accessToken, accessLifetimeMs, accessRemainingMs }: StoredTokens, byMs: number) {
  return { accessToken, accessLifetimeMs, accessRemainingMs: accessRemainingMs - byMs }
}

/** @returns What is unexpected about the refresh token in the response to a refresh. If `keepsMs` is Infinity, it may be absent, or the same again. */
export function rotationProblem(presented: string | undefined, next: string | undefined, keepsMs: number) {
  if (keepsMs === Infinity || presented === undefined || (next !== undefined && next !== presented)) return undefined
  return next === undefined
    ? "The response to a refresh has no refresh token: only refreshTokens: 'reusable' keeps the old one"
    : 'The response to a refresh has the same refresh token again'
}
