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

/** The option `errors`, validated. */
export interface CustomErrors {
  readonly codes: Readonly<Record<string, ErrorMeaning>>
  readonly classify: ErrorFunction | undefined
}

/** The error codes that large providers use instead of those of the RFCs. Sources: `test/oauth2/providers.ts`. */
const PROVIDER_CODES: ReadonlyMap<string, string> = /* @__PURE__ */ codeTable({
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
  // RFC 6749 defines it for authorization endpoints only. Auth0, Okta and Exact Online return it from the token endpoint.
  access_denied: 'access_denied',
})

/** @param codes The codes of each error of the RFCs, separated by commas. */
function codeTable(codes: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(Object.entries(codes).flatMap(([meaning, all]) => all.split(',').map((code) => [code, meaning])))
}

/** Servers use these codes for anything, so the texts in the same response decide. */
const VAGUE: readonly unknown[] = [undefined, 'invalid_request', 'unauthorized_client', 'access_denied']

/** An exchange that the server rejected. */
export interface RejectedCall {
  readonly exchange: Exchange
  readonly status: number
  /** The body. Undefined: a web page, or empty. */
  readonly document: Members | undefined
  /** Whether the exchange presented a refresh token that only a new login can replace. */
  readonly isOfLogin: boolean
}

/** The meaning of an error response. */
export interface Classified {
  /** The error code, if it is known. Messages quote no other text of a server, because it may contain a secret. */
  readonly code: string | undefined
  /** An error of the RFCs, or `access_denied`. Undefined: only the status is known. */
  readonly meaning: string | undefined
}

/**
 * Classifies an error response by its codes, then by its texts if the code is vague, then by its status. Keeps nothing of the texts.
 *
 * @param custom The result of the function of the option `errors`.
 */
export function errorMeaning(
  call: RejectedCall,
  codes: CustomErrors['codes'],
  custom: ErrorMeaning | undefined,
): Classified {
  const { exchange, document } = call
  const meant = (code: string) => meaningOfCode(code, codes)
  const known = errorCodesIn(document).filter((code) => meant(code))
  const isCustom = (code: string) => customMeaningOf(code, codes) !== undefined
  // More specific codes win: Google and Entra send invalid_grant with them.
  const decisive = known.find(isCustom) ?? known.find((code) => !VAGUE.includes(meant(code))) ?? known[0] ?? ''
  const code = known.find((one) => one === memberOf(document, 'error')) ?? known[0]
  const meaning = custom ?? meant(decisive)
  if (custom ?? (isCustom(decisive) || !VAGUE.includes(meaning))) return { code, meaning }
  const texts = textsIn(document).join('\n')
  return { code, meaning: meaningOfTexts(exchange, texts) ?? meaningOfStatus(call, meaning) }
}

/** Whether `error` of a response is a code of the RFCs, of the built-in table or of the option `errors`. */
export function isKnownCode(error: unknown, codes: CustomErrors['codes']): boolean {
  return typeof error === 'string' && meaningOfCode(error, codes) !== undefined
}

function meaningOfCode(code: string, codes: CustomErrors['codes']): string | undefined {
  return customMeaningOf(code, codes) ?? PROVIDER_CODES.get(code) ?? (isOAuthError(code) ? code : undefined)
}

function customMeaningOf(code: string, codes: CustomErrors['codes']): string | undefined {
  return Object.hasOwn(codes, code) ? codes[code] : undefined
}

/** The members that hold an error code, the more specific ones first: Google; Entra; Supabase; RFC 6749; Fitbit; many; RFC 9457; HubSpot. */
const CODE_MEMBERS = ['error_subtype', 'suberror', 'error_code', 'error', 'errorType', 'code', 'type', 'status']
/** The members that hold a text. The last three occur in the list `errors` of Strava. */
const TEXT_MEMBERS = [
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

/** @returns The error codes of a response, known or unknown, numbers as text. */
export function errorCodesIn(document: Members | undefined): string[] {
  // Entra starts the description with a number of its own, Google Identity Toolkit with an error code.
  const [number] = /^AADSTS\d+/.exec(String(memberOf(document, 'error_description'))) ?? []
  const message = memberOf(memberOf(document, 'error') as Members | undefined, 'message')
  const [code] = /^[A-Z]+(_[A-Z]+)+(?=$| : )/.exec(String(message)) ?? []
  const found = partsOf(document).flatMap((part) => {
    const [type, code] = [memberOf(part, 'type'), memberOf(part, 'code')]
    return [...CODE_MEMBERS.map((name) => memberOf(part, name)), typeof type === 'string' && `${type} ${String(code)}`]
  })
  return [number, code, ...found].filter((code) => ['string', 'number'].includes(typeof code)).map(String)
}

function textsIn(document: Members | undefined): unknown[] {
  const found = partsOf(document).flatMap((part) => TEXT_MEMBERS.map((name) => memberOf(part, name)))
  return found.filter((text) => typeof text === 'string')
}

/** The response, its `error` if that is an object (Meta), and the first of its `errors` (Strava, Fitbit). */
function partsOf(document: Members | undefined): Members[] {
  const errors = memberOf(document, 'errors')
  const parts: unknown[] = [document, memberOf(document, 'error'), Array.isArray(errors) ? errors[0] : undefined]
  return parts.filter((part) => typeof part === 'object' && part !== null) as Members[]
}

function meaningOfTexts(exchange: Exchange, texts: string): string | undefined {
  if (/too many|rate.?limit|throttl|quota|not (yet )?expired/i.test(texts)) return 'slow_down'
  if (exchange === 'refresh' && isAboutInvalidToken(texts) && !ABOUT_CLIENT.test(texts)) return 'invalid_grant'
  if (/\b(invalid|wrong|incorrect|unknown) client\b|\bapi.?key (is )?(not valid|invalid)/i.test(texts))
    return 'invalid_client'
  return /temporarily unavailable|retry your request|try again later/i.test(texts)
    ? 'temporarily_unavailable'
    : undefined
}

function isAboutInvalidToken(texts: string): boolean {
  return /refresh[ _-]?token/i.test(texts) ? INVALID.test(texts) : ENDED.test(texts)
}

/** Zoom; X; better-auth, Meta; better-auth */
const ENDED =
  /^invalid token\W*$|\btoken (is|was|has|has been) (invalid|expired|revoked)\b|\bsession (not found|(is|has|was|has been) (expired|invalidated|revoked))\b|\b(user|account) (not found|does not exist|(is|was|has been) (deleted|disabled|deactivated|blocked|suspended))\b/im
const INVALID =
  /\b(invalid|expired|revoked|unknown|inactive|not (active|found|valid)|no longer valid|does not exist)\b/i
/** The text is about the client, or about the grant type. */
const ABOUT_CLIENT = /client.?(secret|id|credential|auth|assertion)|assertion|grant.?type|endpoint/i

function meaningOfStatus(
  { exchange, status, document, isOfLogin }: RejectedCall,
  meaning: string | undefined,
): string | undefined {
  // RFC 6749: 401 rejects the client. Auth0 then sends access_denied, Keycloak unauthorized_client.
  if (status === 401 && meaning !== 'invalid_request') return 'invalid_client'
  // Auth0 and Okta deny the user. A source that can obtain finds out more by its obtain.
  if (isOfLogin && meaning === 'access_denied') return 'invalid_grant'
  // A web page, e.g. of a proxy, does not reject the refresh token.
  return meaning ?? (exchange === 'refresh' && status === 400 && !document ? 'invalid_request' : undefined)
}
