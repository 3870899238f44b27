import { namesOf } from '../core/option-checks.ts'
import type { Exchange } from '../core/token-source.ts'
import { isOAuthError } from '../wire/oauth-errors.ts'
import { memberOf, type Members } from './document.ts'
import type { ErrorMeaning, OAuth2Options } from './oauth2-options.ts'

export const MEANINGS = /* @__PURE__ */ namesOf<Readonly<Record<ErrorMeaning, unknown>>>({
  invalid_grant: true,
  invalid_client: true,
  interaction_required: true,
  temporarily_unavailable: true,
  slow_down: true,
  invalid_request: true,
})

export type ErrorFunction = Extract<OAuth2Options['errors'], (...given: never) => unknown>

/** The option `errors`, checked. */
export interface Taught {
  readonly words: Readonly<Record<string, ErrorMeaning>>
  readonly judge: ErrorFunction | undefined
}

/** What large servers say in place of the errors of the RFCs. The sources stand in `test/oauth2/providers.ts`. */
const DIALECTS: ReadonlyMap<string, string> = /* @__PURE__ */ dialects({
  // GitHub; Slack; HubSpot; Zoho; Salesforce; Spring Security, Cloud Foundry; Supabase; Ory Hydra; Meta; Google Identity Toolkit
  invalid_grant:
    'bad_refresh_token,invalid_refresh_token,token_revoked,token_expired,BAD_REFRESH_TOKEN,invalid_code,inactive_user,inactive_org,invalid_token,' +
    'refresh_token_not_found,refresh_token_already_used,session_not_found,session_expired,token_inactive,OAuthException 190,' +
    'TOKEN_EXPIRED,USER_DISABLED,USER_NOT_FOUND,INVALID_REFRESH_TOKEN',
  // GitHub; Slack; Salesforce, Zoho; HubSpot; Shopify; Google; Google Identity Toolkit
  invalid_client:
    'incorrect_client_credentials,bad_client_secret,invalid_client_id,invalid_client_secret,BAD_CLIENT_SECRET,BAD_CLIENT_ID,application_cannot_be_found,deleted_client,disabled_client,' +
    'PROJECT_NUMBER_MISMATCH',
  // Auth0; Google; Microsoft Entra
  interaction_required:
    'mfa_required,invalid_rapt,admin_policy_enforced,org_internal,basic_action,additional_action,user_password_expired',
  // Slack; Zoho; Salesforce; Google
  temporarily_unavailable:
    'internal_error,fatal_error,service_unavailable,request_timeout,general_error,unknown_error,internal_failure',
  // Slack; Salesforce, Google; Zoho; Microsoft Entra; Google Identity Toolkit
  slow_down:
    'ratelimited,accesslimited,rate_limit_exceeded,too_many_requests,Access Denied,AADSTS50196,' +
    'QUOTA_EXCEEDED,RESOURCE_EXHAUSTED,TOO_MANY_ATTEMPTS_TRY_LATER',
  // Microsoft Entra
  invalid_target: 'invalid_resource',
  // RFC 6749 has it for authorization endpoints only. Auth0, Okta and Exact Online answer it to token calls.
  access_denied: 'access_denied',
})

/** @param words Of each error of the RFCs. */
function dialects(words: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(Object.entries(words).flatMap(([meaning, all]) => all.split(',').map((word) => [word, meaning])))
}

/** Servers use these for anything, so the texts beside them say more. */
const VAGUE: readonly unknown[] = [undefined, 'invalid_request', 'unauthorized_client', 'access_denied']

/** An answer that refuses. */
export interface Refusing {
  readonly exchange: Exchange
  readonly status: number
  /** Undefined: a web page, or nothing. */
  readonly document: Members | undefined
  /** Whether a refresh token was presented that only a person can replace. */
  readonly isOfLogin: boolean
}

/** What an answer that refuses says. */
export interface Meant {
  /** The error word, if it is known. Any other text of a server may hold a secret, so no message quotes it. */
  readonly word: string | undefined
  /** An error of the RFCs, or `access_denied`; undefined: only the status says something. */
  readonly meaning: string | undefined
}

/**
 * What an answer that refuses means: by its words, by the texts beside a vague word, by its status. Nothing of the texts is kept.
 *
 * @param judged What the function of the option `errors` has said of it.
 */
export function errorMeaning(refusing: Refusing, words: Taught['words'], judged: ErrorMeaning | undefined): Meant {
  const { exchange, document } = refusing
  const meant = (word: string) => meaningOfWord(word, words)
  const known = wordsIn(document).filter((word) => meant(word))
  const isTaught = (word: string) => taughtMeaning(word, words) !== undefined
  // The finer words come first: Google and Entra say invalid_grant beside them.
  const decisive = known.find(isTaught) ?? known.find((word) => !VAGUE.includes(meant(word))) ?? known[0] ?? ''
  const word = known.find((one) => one === memberOf(document, 'error')) ?? known[0]
  const meaning = judged ?? meant(decisive)
  if (judged ?? (isTaught(decisive) || !VAGUE.includes(meaning))) return { word, meaning }
  const texts = textsIn(document).join('\n')
  return { word, meaning: meaningOfTexts(exchange, texts) ?? meaningOfStatus(refusing, meaning) }
}

/** Whether `error` of an answer is a word that the RFCs, the built-in table or the option `errors` know. */
export function isKnownWord(error: unknown, words: Taught['words']): boolean {
  return typeof error === 'string' && meaningOfWord(error, words) !== undefined
}

function meaningOfWord(word: string, words: Taught['words']): string | undefined {
  return taughtMeaning(word, words) ?? DIALECTS.get(word) ?? (isOAuthError(word) ? word : undefined)
}

function taughtMeaning(word: string, words: Taught['words']): string | undefined {
  return Object.hasOwn(words, word) ? words[word] : undefined
}

/** The members that hold a word, the finer ones first: Google; Entra; Supabase; RFC 6749; Fitbit; many; RFC 9457; HubSpot. */
const WORDS = ['error_subtype', 'suberror', 'error_code', 'error', 'errorType', 'code', 'type', 'status']
/** The members that hold a text. The last three are of the list `errors` of Strava. */
const TEXTS = [
  'error',
  'error_description',
  'message',
  'msg',
  'detail',
  'errmsg',
  'reason',
  'status',
  'resource',
  'field',
  'code',
]

/** @returns The words of an answer, known or not. Numbers count as their text. */
export function wordsIn(document: Members | undefined): string[] {
  // Entra puts its own number first in the text, Google Identity Toolkit its word.
  const [number] = /^AADSTS\d+/.exec(String(memberOf(document, 'error_description'))) ?? []
  const message = memberOf(memberOf(document, 'error') as Members | undefined, 'message')
  const [word] = /^[A-Z]+(_[A-Z]+)+(?=$| : )/.exec(String(message)) ?? []
  const found = partsOf(document).flatMap((part) => {
    const [type, code] = [memberOf(part, 'type'), memberOf(part, 'code')]
    return [...WORDS.map((name) => memberOf(part, name)), typeof type === 'string' && `${type} ${String(code)}`]
  })
  return [number, word, ...found].filter((word) => ['string', 'number'].includes(typeof word)).map(String)
}

function textsIn(document: Members | undefined): unknown[] {
  const found = partsOf(document).flatMap((part) => TEXTS.map((name) => memberOf(part, name)))
  return found.filter((text) => typeof text === 'string')
}

/** The answer, its `error` if that is an object (Meta), and the first of its `errors` (Strava, Fitbit). */
function partsOf(document: Members | undefined): Members[] {
  const errors = memberOf(document, 'errors')
  const parts: unknown[] = [document, memberOf(document, 'error'), Array.isArray(errors) ? errors[0] : undefined]
  return parts.filter((part) => typeof part === 'object' && part !== null) as Members[]
}

function meaningOfTexts(exchange: Exchange, texts: string): string | undefined {
  if (/too many|rate.?limit|throttl|quota|not (yet )?expired/i.test(texts)) return 'slow_down'
  if (exchange === 'refresh' && isOfDeadToken(texts) && !OF_CLIENT.test(texts)) return 'invalid_grant'
  if (/\b(invalid|wrong|incorrect|unknown) client\b|\bapi.?key (is )?(not valid|invalid)/i.test(texts))
    return 'invalid_client'
  return /temporarily unavailable|retry your request|try again later/i.test(texts)
    ? 'temporarily_unavailable'
    : undefined
}

function isOfDeadToken(texts: string): boolean {
  if (/refresh[ _-]?token/i.test(texts)) return DEAD.test(texts)
  // Zoom; X; better-auth, Meta; better-auth
  return (
    /^invalid token\W*$/im.test(texts) ||
    /\btoken (is|was|has|has been) (invalid|expired|revoked)\b/i.test(texts) ||
    /\bsession (not found|(is|has|was|has been) (expired|invalidated|revoked))\b/i.test(texts) ||
    /\b(user|account) (not found|does not exist|(is|was|has been) (deleted|disabled|deactivated|blocked|suspended))\b/i.test(
      texts,
    )
  )
}

const DEAD = /\b(invalid|expired|revoked|unknown|inactive|not (active|found|valid)|no longer valid|does not exist)\b/i
/** The text speaks of the client, or of the kind of grant. */
const OF_CLIENT = /client.?(secret|id|credential|auth|assertion)|assertion|grant.?type|endpoint/i

function meaningOfStatus(
  { exchange, status, document, isOfLogin }: Refusing,
  meaning: string | undefined,
): string | undefined {
  // In RFC 6749, 401 refuses the client. Auth0 then says access_denied, Keycloak unauthorized_client.
  if (status === 401 && meaning !== 'invalid_request') return 'invalid_client'
  // Auth0 and Okta deny the person. A source that can obtain learns more from its obtain.
  if (isOfLogin && meaning === 'access_denied') return 'invalid_grant'
  // A web page, e.g. of a proxy, does not refuse the refresh token.
  return meaning ?? (exchange === 'refresh' && status === 400 && !document ? 'invalid_request' : undefined)
}
