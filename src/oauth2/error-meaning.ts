import type { Exchange } from '../core/token-source.ts'
import { isOAuthError } from '../wire/oauth-errors.ts'
import { memberOf, type Members } from './document.ts'

/** What an error word of a server can mean. */
export const MEANINGS = [
  'invalid_grant',
  'invalid_client',
  'interaction_required',
  'temporarily_unavailable',
  'slow_down',
  'invalid_request',
] as const

/** What the words of one server mean: the option `errors`. */
export type ErrorMeanings = Readonly<Record<string, (typeof MEANINGS)[number]>>

/** What large servers say in place of the errors of the RFCs. The sources stand in `test/oauth2/providers.ts`. */
const DIALECTS: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  Object.entries({
    // GitHub; Slack; HubSpot; Zoho; Salesforce; Spring Security, Cloud Foundry
    invalid_grant:
      'bad_refresh_token,invalid_refresh_token,token_revoked,token_expired,BAD_REFRESH_TOKEN,invalid_code,inactive_user,inactive_org,invalid_token',
    // GitHub; Slack; Salesforce, Zoho; HubSpot; Shopify; Google
    invalid_client:
      'incorrect_client_credentials,bad_client_secret,invalid_client_id,invalid_client_secret,BAD_CLIENT_SECRET,BAD_CLIENT_ID,application_cannot_be_found,deleted_client,disabled_client',
    // Auth0; Google; Microsoft Entra
    interaction_required:
      'mfa_required,invalid_rapt,admin_policy_enforced,basic_action,additional_action,user_password_expired',
    // Slack; Zoho; Salesforce; Google
    temporarily_unavailable:
      'internal_error,fatal_error,service_unavailable,request_timeout,general_error,unknown_error,internal_failure',
    // Slack; Salesforce, Google; Zoho
    slow_down: 'ratelimited,accesslimited,rate_limit_exceeded,too_many_requests,Access Denied',
    // Microsoft Entra
    invalid_target: 'invalid_resource',
    // RFC 6749 has it for authorization endpoints only. Auth0, Okta and Exact Online answer it to token calls.
    access_denied: 'access_denied',
  }).flatMap(([meaning, words]) => words.split(',').map((word) => [word, meaning] as const)),
)

/** Servers use these for anything, so the texts beside them say more. */
const VAGUE: readonly unknown[] = [undefined, 'invalid_request', 'unauthorized_client', 'access_denied']

/** What an answer that refuses says. */
export interface ErrorMeaning {
  /** The error word, if it is known. Any other text of a server may hold a secret, so no message quotes it. */
  readonly word: string | undefined
  /** An error of the RFCs, or `access_denied`; undefined: only the status says something. */
  readonly meaning: string | undefined
}

/**
 * What an answer that refuses means: by its words, by the texts beside a vague word, by its status. Nothing of the texts is kept.
 *
 * @param document Undefined: a web page, or nothing.
 * @param isOfLogin Whether a refresh token was presented that only a person can replace.
 */
export function errorMeaning(
  exchange: Exchange,
  status: number,
  document: Members | undefined,
  errors: ErrorMeanings,
  isOfLogin: boolean,
): ErrorMeaning {
  const meant = (word: string) => meaningOfWord(word, errors)
  // The finer words come first: Google and Entra say invalid_grant beside them.
  const words = textsOf(document, ['error_subtype', 'suberror', 'error', 'status']).filter((word) => meant(word))
  const [decisive = ''] = words
  const word = words.find((one) => one === memberOf(document, 'error')) ?? words[0]
  const meaning = meant(decisive)
  if (taughtMeaning(decisive, errors) !== undefined || !VAGUE.includes(meaning)) return { word, meaning }
  const texts = [...textsOf(document, TEXTS), ...textsOf(firstOf(memberOf(document, 'errors')), CODES)].join('\n')
  return {
    word,
    meaning: meaningOfTexts(exchange, texts) ?? meaningOfStatus(exchange, status, meaning, !document, isOfLogin),
  }
}

/** Whether `error` of an answer is a word that the RFCs, the built-in table or the option `errors` know. */
export function isKnownWord(error: unknown, errors: ErrorMeanings): boolean {
  return typeof error === 'string' && meaningOfWord(error, errors) !== undefined
}

function meaningOfWord(word: string, errors: ErrorMeanings): string | undefined {
  return taughtMeaning(word, errors) ?? DIALECTS.get(word) ?? (isOAuthError(word) ? word : undefined)
}

function taughtMeaning(word: string, errors: ErrorMeanings): string | undefined {
  return Object.hasOwn(errors, word) ? errors[word] : undefined
}

const TEXTS = ['error', 'error_description', 'message', 'reason', 'status']
/** In the list `errors` of Strava. */
const CODES = ['resource', 'field', 'code']

function meaningOfTexts(exchange: Exchange, texts: string): string | undefined {
  if (/too many|rate.?limit|throttl|not (yet )?expired/i.test(texts)) return 'slow_down'
  if (exchange === 'refresh' && isOfDeadToken(texts) && !OF_CLIENT.test(texts)) return 'invalid_grant'
  if (/\b(invalid|wrong|incorrect|unknown) client\b/i.test(texts)) return 'invalid_client'
  return /temporarily unavailable|retry your request|try again later/i.test(texts)
    ? 'temporarily_unavailable'
    : undefined
}

function isOfDeadToken(texts: string): boolean {
  if (/refresh[ _-]?token/i.test(texts)) return DEAD.test(texts)
  // Zoom; X
  return /^invalid token\W*$/im.test(texts) || /\btoken (is|was|has|has been) (invalid|expired|revoked)\b/i.test(texts)
}

const DEAD = /\b(invalid|expired|revoked|unknown|inactive|not (active|found|valid)|no longer valid|does not exist)\b/i
/** The text speaks of the client, or of the kind of grant. */
const OF_CLIENT = /client.?(secret|id|credential|auth|assertion)|assertion|grant.?type|endpoint/i

function meaningOfStatus(
  exchange: Exchange,
  status: number,
  meaning: string | undefined,
  isPage: boolean,
  isOfLogin: boolean,
): string | undefined {
  // In RFC 6749, 401 refuses the client. Auth0 then says access_denied, Keycloak unauthorized_client.
  if (status === 401 && meaning !== 'invalid_request') return 'invalid_client'
  // Auth0 and Okta deny the person. A source that can obtain learns more from its obtain.
  if (isOfLogin && meaning === 'access_denied') return 'invalid_grant'
  // A web page, e.g. of a proxy, does not refuse the refresh token.
  return meaning ?? (exchange === 'refresh' && status === 400 && isPage ? 'invalid_request' : undefined)
}

function textsOf(document: Members | undefined, names: readonly string[]): string[] {
  return names.map((name) => memberOf(document, name)).filter((text) => typeof text === 'string')
}

function firstOf(list: unknown): Members | undefined {
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  return typeof first === 'object' && first !== null ? (first as Members) : undefined
}
