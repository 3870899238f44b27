import { isOAuthError } from '../wire/meaning.ts'
import { memberOf, type Members } from './document.ts'
import type { ErrorMeaning } from './oauth2-options.ts'

/** The meanings of error codes in the option `errors`. */
export type CustomCodes = Readonly<Record<string, ErrorMeaning>>

/** An error code of the RFCs, or `access_denied`; what to do about it; the error codes that large providers use instead. Sources: `test/oauth2/providers.ts`. */
type Word = readonly [meaning: string, advice: string | undefined, codes?: string]

const WORDS: readonly Word[] = [
  // Slack; Salesforce; Meta; Google Identity Toolkit. `DEAD_CODE` matches those that name the refresh token or the session.
  [
    'invalid_grant',
    undefined,
    'invalid_code,inactive_user,inactive_org,oauthexception 190,user_disabled,user_not_found',
  ],
  // GitHub; Slack; Salesforce, Zoho; HubSpot; Shopify; Google; Google Identity Toolkit
  [
    'invalid_client',
    'check clientId, clientSecret and clientAuthentication; some servers accept only post, or do not allow this grant to this client',
    'incorrect_client_credentials,bad_client_secret,invalid_client_id,invalid_client_secret,bad_client_id,application_cannot_be_found,deleted_client,disabled_client,' +
      'project_number_mismatch',
  ],
  // Auth0; Google; Microsoft Entra
  [
    'interaction_required',
    undefined,
    'mfa_required,invalid_rapt,admin_policy_enforced,org_internal,basic_action,additional_action,user_password_expired',
  ],
  // Slack; Zoho; Salesforce; Google
  [
    'temporarily_unavailable',
    undefined,
    'internal_error,fatal_error,service_unavailable,request_timeout,general_error,unknown_error,internal_failure',
  ],
  // Slack; Salesforce, Google; Zoho; Microsoft Entra; Google Identity Toolkit
  [
    'slow_down',
    undefined,
    'ratelimited,accesslimited,rate_limit_exceeded,too_many_requests,access denied,aadsts50196,' +
      'quota_exceeded,resource_exhausted,too_many_attempts_try_later',
  ],
  // Microsoft Entra
  ['invalid_target', 'check audience and resource in parameters, and scope', 'invalid_resource'],
  // RFC 6749 defines it for authorization endpoints only. Auth0, Okta and Exact Online return it from the token endpoint.
  ['access_denied', 'check the client, scope, and audience in parameters', 'access_denied'],
  // RFC 9449, sections 5 and 8
  ['use_dpop_nonce', 'the server rejected the nonce that it had sent, or requires a proof: set dpop'],
  ['invalid_dpop_proof', 'the server rejected the proof; check its algorithms, and the clock of this machine'],
  // Square
  ['unauthorized_client', 'the server does not allow this grant to this client', 'service.not_authorized'],
  ['unsupported_grant_type', 'the server does not support this grant; check tokenEndpoint'],
  ['unsupported_token_type', 'the server does not revoke tokens of this type'],
  ['invalid_scope', 'check scope, and the scopes that the server allows to this client'],
  ['invalid_request', 'check parameters and clientAuthentication'],
]

/** Maps, because a record inherits members from a polluted `Object.prototype` (F365). */
export const ADVICE: ReadonlyMap<string | undefined, string | undefined> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ WORDS.map(([meaning, advice]) => [meaning, advice]),
)
const CODES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ WORDS.flatMap(([meaning, , codes]) => (codes?.split(',') ?? []).map((code) => [code, meaning])),
)

/** Servers use these codes for anything, so the texts in the same response decide. */
const VAGUE: readonly unknown[] = [undefined, 'invalid_request', 'unauthorized_client', 'access_denied']

/** The meaning of the codes and texts of an error response. */
export interface Said {
  /** The error code, if it is known. Messages quote no other text of a server, because it may contain a secret. */
  readonly code: string | undefined
  /** An error code of the RFCs, or `access_denied`. */
  readonly meaning: string | undefined
  /** Whether a code that is not vague, or a text, gave the meaning. */
  readonly isClear: boolean
  /** Whether no code or text says more than the status 401. */
  readonly isBare: boolean
}

/** Reads the codes of an error response, then its texts if the codes are vague. Keeps nothing of the texts. */
export function said(document: Members | undefined, custom: CustomCodes, isRefresh: boolean): Said {
  const known = errorCodesIn(document).filter((code) => meaningOfCode(code, custom))
  const isCustom = (code: string) => customMeaningOf(code, custom) !== undefined
  const isPrecise = (code: string) => !VAGUE.includes(meaningOfCode(code, custom))
  // More specific codes win: Google and Entra send invalid_grant with them.
  const decisive = known.find(isCustom) ?? known.find(isPrecise) ?? known[0] ?? ''
  const code = known.find((one) => one === memberOf(document, 'error')) ?? known[0]
  const meaning = meaningOfCode(decisive, custom)
  const isClear = isCustom(decisive) || isPrecise(decisive)
  const texts = textsIn(document)
  const read = isClear ? undefined : meaningOfTexts(texts.join('\n'), isRefresh)
  const isBare = [...errorCodesIn(document), ...texts].every((text) => BARE.test(text))
  return { code, meaning: read ?? meaning, isClear: isClear || read !== undefined, isBare }
}

/** Whether `error` of a response is a code of the RFCs, of the built-in table or of the option `errors`. */
export function isKnownCode(error: unknown, custom: CustomCodes): boolean {
  return typeof error === 'string' && meaningOfCode(error, custom) !== undefined
}

function meaningOfCode(code: string, custom: CustomCodes): string | undefined {
  const plain = code.toLowerCase()
  const known = customMeaningOf(code, custom) ?? CODES.get(plain) ?? (isOAuthError(plain) ? plain : undefined)
  return known ?? (DEAD_CODE.test(code.replace(/([a-z])(?=[A-Z])|[_.:-]+/g, '$1 ')) ? 'invalid_grant' : undefined)
}

function customMeaningOf(code: string, custom: CustomCodes): string | undefined {
  return Object.hasOwn(custom, code) ? custom[code] : undefined
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

function textsIn(document: Members | undefined): string[] {
  const found = partsOf(document).flatMap((part) => TEXT_MEMBERS.map((name) => memberOf(part, name)))
  return found.filter((text) => typeof text === 'string')
}

/** The response, its `error` if that is an object (Meta), and the first of its `errors` (Strava, Fitbit). */
function partsOf(document: Members | undefined): Members[] {
  const errors = memberOf(document, 'errors')
  const parts: unknown[] = [document, memberOf(document, 'error'), Array.isArray(errors) ? errors[0] : undefined]
  return parts.filter((part) => typeof part === 'object' && part !== null) as Members[]
}

function meaningOfTexts(texts: string, isRefresh: boolean): string | undefined {
  if (/too many|rate.?limit|throttl|quota|not (yet )?expired/i.test(texts)) return 'slow_down'
  if (isRefresh && isAboutDeadToken(texts) && !ABOUT_CLIENT.test(texts)) return 'invalid_grant'
  if (/\b(invalid|wrong|incorrect|unknown) client\b|\bapi.?key (is )?(not valid|invalid)|^application$/im.test(texts))
    return 'invalid_client'
  return /temporarily unavailable|retry your request|try again later/i.test(texts)
    ? 'temporarily_unavailable'
    : undefined
}

function isAboutDeadToken(texts: string): boolean {
  return (/refresh[ _-]?token/i.test(texts) ? DEAD : ENDED).test(texts)
}

/** Matches codes that say only that a refresh token or a session has ended, in any spelling: `REFRESH_REUSE_DETECTED`, `bad_refresh_token`. */
const DEAD_CODE =
  /^(e(rr(or)?)? |auth )?((bad|(invalid(ated)?|expired|revoked|inactive|unknown|reused?|rotated|replayed|blacklisted|terminated|ended|closed|already( been)? used|no longer valid|does not exist|not (found|active|valid))) (refresh )?(token|session)|(refresh( token)?|token|session) ((invalid(ated)?|expired|revoked|inactive|unknown|reused?|rotated|replayed|blacklisted|terminated|ended|closed|already( been)? used|no longer valid|does not exist|not (found|active|valid))|used|timeout|timed out))( detected)?( error| exception)?$/i
/** For texts about a refresh token. */
const DEAD =
  /\b(invalid(ated)?|expired|revoked|inactive|unknown|reused?|rotated|replayed|blacklisted|terminated|ended|closed|already( been)? used|no longer valid|does not exist|not (found|active|valid))\b/i
/** For other texts. Sources: Zoom; X; better-auth, Meta; better-auth */
const ENDED =
  /^invalid token\W*$|\btoken (is|was|has|has been) (invalid|expired|revoked)\b|\bsession ((is|was|has|been) )*(invalid(ated)?|expired|revoked|inactive|unknown|reused?|rotated|replayed|blacklisted|terminated|ended|closed|already( been)? used|no longer valid|does not exist|not (found|active|valid))\b|\b(user|account) (not found|does not exist|(is|was|has been) (deleted|disabled|deactivated|blocked|suspended))\b/im
/** Matches texts about the client or the grant type. */
const ABOUT_CLIENT = /client.?(secret|id|credential|auth|assertion)|assertion|grant.?type|endpoint/i
/** Matches texts that say no more than the status 401. */
const BARE = /^\W*((401|http|error|un|not|authorized|authorised|undefined)[\W_]*)*$/i
