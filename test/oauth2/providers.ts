/** What the manager must make of a response to the refresh of a login. */
export type Wanted =
  | 'used' // its tokens are used
  | 'login required' // the refresh token was rejected
  | 'the person' // the server requires interaction: login required, and nothing is suspicious
  | 'client refused' // ERR_CREDENTIALS_REJECTED, the refresh token is kept
  | 'unclear' // ERR_CREDENTIALS_REJECTED: kept, and discarded if the server repeats the same for ten minutes
  | 'request refused' // ERR_TOKEN_REQUEST, and the same
  | 'throttled' // ERR_THROTTLED, the refresh token is untouched
  | 'unavailable' // ERR_TOKEN_SERVICE_UNAVAILABLE, the refresh token is untouched
  | 'failed' // ERR_TOKEN_SERVICE_UNAVAILABLE: the server may have used the refresh token
  | 'in doubt' // ERR_TOKEN_RESPONSE: the same, and discarded if the server repeats the same for ten minutes
  | 'stopped before' // ERR_TOKEN_REQUEST: a page of something in front of the server, the refresh token is untouched

/** A response to the refresh of a login, and what it means. */
export type Shape = readonly [status: number, body: object | string, wanted: Wanted, source: string]

const said = (error: string, error_description = '') => ({ error, error_description })
const grant = { access_token: 'issued-token', token_type: 'Bearer', expires_in: 3_600 }
const pair = { ...grant, refresh_token: 'next' }

const KEYCLOAK = 'keycloak/keycloak: TokenManager.java'
const ENTRA = 'Microsoft identity platform: Authentication and authorization error codes'
const AUTH0 = 'Auth0: Authentication API, Get Token'
const OKTA = 'Okta: OpenID Connect & OAuth 2.0 API, and Error codes'
const COGNITO = 'Amazon Cognito: Token endpoint'
const GOOGLE = 'Google: Using OAuth 2.0 for Web Server Applications, errors'
const GITHUB = 'GitHub: Troubleshooting OAuth app access token request errors'
const SLACK = 'Slack: oauth.v2.access, errors'
const SLACK_ROTATION = 'Slack: Using token rotation'
const SALESFORCE = 'Salesforce: OAuth 2.0 authorization errors'
const ZOHO = 'Zoho: Token validity, and Refresh access tokens'
const HUBSPOT = 'airbytehq/airbyte#79592; HubSpot: OAuth tokens'
const SHOPIFY = 'Shopify: Authorization code grant'
const XERO = 'Xero: OAuth 2.0 FAQ'
const INTUIT = 'Intuit: OAuth 2.0 FAQ'
const TWITCH = 'Twitch: Refreshing access tokens'
const STRAVA = 'Strava: Authentication'

/** Each shape was judged from its source before the code was written. */
export const PROVIDERS: Readonly<Record<string, readonly Shape[]>> = {
  Keycloak: [
    [400, said('invalid_grant', 'Token is not active'), 'login required', 'keycloak/keycloak#37961'],
    [400, said('invalid_grant', 'Session not active'), 'login required', 's3pweb/keycloak-admin-client-cjs#15'],
    [400, said('invalid_grant', 'Offline user session not found'), 'login required', KEYCLOAK],
    [400, said('invalid_grant', 'Maximum allowed refresh token reuse exceeded'), 'login required', KEYCLOAK],
    [400, said('invalid_grant', 'Stale token'), 'login required', 'keycloak/keycloak#37900'],
    [401, said('unauthorized_client', 'Invalid client or Invalid client credentials'), 'client refused', KEYCLOAK],
    [401, said('invalid_client', 'Invalid client or Invalid client credentials'), 'client refused', KEYCLOAK],
    [404, said('Realm does not exist'), 'request refused', KEYCLOAK],
    [503, '<html><h1>Service Unavailable</h1></html>', 'unavailable', 'a proxy before Keycloak'],
    [500, said('unknown_error'), 'failed', KEYCLOAK],
  ],
  'Microsoft Entra': [
    [
      400,
      said(
        'invalid_grant',
        'AADSTS70008: The provided authorization code or refresh token has expired due to inactivity.',
      ),
      'login required',
      ENTRA,
    ],
    [
      400,
      said('invalid_grant', 'AADSTS50173: The provided grant has expired due to it being revoked.'),
      'login required',
      ENTRA,
    ],
    [400, { ...said('interaction_required', 'AADSTS50076'), claims: '{}' }, 'the person', ENTRA],
    [400, said('consent_required', 'AADSTS65001'), 'the person', ENTRA],
    [400, said('login_required', 'AADSTS50058'), 'the person', ENTRA],
    [401, said('invalid_client', 'AADSTS7000215: Invalid client secret provided.'), 'client refused', ENTRA],
    [
      400,
      said('temporarily_unavailable', 'AADSTS90033: A transient error has occurred. Please try again.'),
      'unavailable',
      ENTRA,
    ],
    [
      503,
      said('temporarily_unavailable', 'AADSTS90033: A transient error has occurred. Please try again.'),
      'unavailable',
      ENTRA,
    ],
    [
      400,
      said('unauthorized_client', 'AADSTS700016: Application with identifier was not found in the directory.'),
      'client refused',
      ENTRA,
    ],
    [
      400,
      said('invalid_resource', 'AADSTS500011: The resource principal was not found in the tenant.'),
      'request refused',
      ENTRA,
    ],
    [
      400,
      said('invalid_request', "AADSTS900144: The request body must contain the following parameter: 'client_id'."),
      'request refused',
      ENTRA,
    ],
    [429, said('temporarily_unavailable'), 'throttled', ENTRA],
  ],
  Auth0: [
    [403, said('invalid_grant', 'Unknown or invalid refresh token.'), 'login required', AUTH0],
    [
      403,
      { ...said('mfa_required', 'Multifactor authentication required'), mfa_token: 'hidden-value' },
      'the person',
      'auth0/Auth0.Android#562',
    ],
    [403, said('access_denied', 'Unauthorized'), 'login required', AUTH0],
    [401, said('access_denied', 'Unauthorized'), 'client refused', AUTH0],
    [
      403,
      said('unauthorized_client', "Grant type 'refresh_token' not allowed for the client."),
      'client refused',
      AUTH0,
    ],
    [429, said('too_many_requests', 'Global limit has been reached'), 'throttled', 'Auth0: Rate limit policy'],
  ],
  Okta: [
    [400, said('invalid_grant', 'The refresh token is invalid or expired.'), 'login required', OKTA],
    [
      400,
      said('access_denied', 'The resource owner or authorization server denied the request.'),
      'login required',
      OKTA,
    ],
    [
      401,
      said('invalid_client', 'The client secret supplied for a confidential client is invalid.'),
      'client refused',
      OKTA,
    ],
    [401, { errorCode: 'E0000011', errorSummary: 'Invalid token provided' }, 'client refused', OKTA],
    [
      429,
      { errorCode: 'E0000047', errorSummary: 'API call exceeded rate limit due to too many requests.' },
      'throttled',
      OKTA,
    ],
  ],
  'Amazon Cognito': [
    [400, { error: 'invalid_grant' }, 'login required', COGNITO],
    [400, { error: 'invalid_client' }, 'client refused', COGNITO],
    [400, { error: 'unauthorized_client' }, 'client refused', COGNITO],
  ],
  Google: [
    [400, said('invalid_grant', 'Token has been expired or revoked.'), 'login required', GOOGLE],
    [
      400,
      { ...said('invalid_grant', 'reauth related error (invalid_rapt)'), error_subtype: 'invalid_rapt' },
      'the person',
      'Google Workspace: Set session length for Google Cloud services',
    ],
    [400, said('admin_policy_enforced'), 'the person', GOOGLE],
    [401, said('invalid_client', 'Unauthorized'), 'client refused', GOOGLE],
    [401, said('deleted_client', 'The OAuth client was deleted.'), 'client refused', GOOGLE],
    [403, said('rate_limit_exceeded', 'Rate Limit Exceeded'), 'throttled', GOOGLE],
    [500, said('internal_failure', 'Backend Error'), 'failed', GOOGLE],
  ],
  GitHub: [
    [200, said('bad_refresh_token', 'The refresh token passed is incorrect or expired.'), 'login required', GITHUB],
    [200, { ...said('bad_refresh_token'), error_uri: 'https://docs.github.com' }, 'login required', GITHUB],
    [
      200,
      said('incorrect_client_credentials', 'The client_id and/or client_secret passed are incorrect.'),
      'client refused',
      GITHUB,
    ],
  ],
  Slack: [
    [200, { ok: false, error: 'invalid_refresh_token' }, 'login required', SLACK],
    [200, { ok: false, error: 'bad_client_secret' }, 'client refused', SLACK],
    [200, { ok: false, error: 'invalid_client_id' }, 'client refused', SLACK],
    [200, { ok: false, error: 'ratelimited' }, 'throttled', SLACK],
    [200, { ok: false, error: 'internal_error' }, 'unavailable', SLACK],
    [200, { ok: true, ...pair, token_type: 'bot' }, 'used', SLACK_ROTATION],
    [200, { ok: true, ...pair, token_type: 'user' }, 'used', SLACK_ROTATION],
  ],
  Salesforce: [
    [
      200,
      { ...grant, expires_in: undefined, instance_url: 'https://example.my.salesforce.com' },
      'used',
      'Salesforce: OAuth 2.0 refresh token flow',
    ],
    [400, said('invalid_grant', 'expired access/refresh token'), 'login required', SALESFORCE],
    [400, said('inactive_user', 'user is inactive'), 'login required', SALESFORCE],
    [400, said('invalid_client_id', 'client identifier invalid'), 'client refused', SALESFORCE],
    [400, said('rate_limit_exceeded', 'number of logins exceeded'), 'throttled', SALESFORCE],
    [400, said('unknown_error', 'retry your request'), 'unavailable', SALESFORCE],
  ],
  Zoho: [
    [200, { error: 'invalid_code' }, 'login required', ZOHO],
    [200, { error: 'invalid_client' }, 'client refused', ZOHO],
    [200, { ...grant, api_domain: 'https://www.zohoapis.com' }, 'used', ZOHO],
    [200, { error: 'invalid_client_secret' }, 'client refused', ZOHO],
    [
      400,
      { error: 'Access Denied', error_description: 'You have made too many requests continuously.', status: 'failure' },
      'throttled',
      ZOHO,
    ],
  ],
  HubSpot: [
    [400, { status: 'BAD_REFRESH_TOKEN', message: 'missing or unknown refresh token' }, 'login required', HUBSPOT],
    [400, { status: 'BAD_CLIENT_SECRET', message: 'missing or invalid client secret' }, 'client refused', HUBSPOT],
    [400, { status: 'BAD_CLIENT_ID', message: 'missing or invalid client id' }, 'client refused', HUBSPOT],
  ],
  Atlassian: [
    [403, said('unauthorized_client', 'refresh_token is invalid'), 'login required', 'raycast/extensions#11836'],
    [401, said('access_denied', 'Unauthorized'), 'client refused', 'Atlassian: OAuth 2.0 (3LO) apps'],
  ],
  Shopify: [
    [200, { access_token: 'issued-token', expires_in: 3_600, scope: 'read_products' }, 'used', SHOPIFY],
    [400, said('invalid_grant'), 'login required', SHOPIFY],
    [400, said('application_cannot_be_found', 'Oauth error application_cannot_be_found'), 'client refused', SHOPIFY],
  ],
  Xero: [
    [400, { error: 'invalid_grant' }, 'login required', XERO],
    [400, { error: 'invalid_client' }, 'client refused', XERO],
  ],
  QuickBooks: [
    [400, said('invalid_grant', 'Incorrect or invalid refresh token'), 'login required', INTUIT],
    [401, { error: 'invalid_client' }, 'client refused', INTUIT],
    [200, { ...pair, refresh_token: 'r', x_refresh_token_expires_in: 8_726_400 }, 'used', INTUIT],
  ],
  Twitch: [
    [400, { error: 'Bad Request', status: 400, message: 'Invalid refresh token' }, 'login required', TWITCH],
    [403, { status: 403, message: 'invalid client secret' }, 'client refused', TWITCH],
  ],
  Strava: [
    [
      400,
      { message: 'Bad Request', errors: [{ resource: 'RefreshToken', field: 'refresh_token', code: 'invalid' }] },
      'login required',
      STRAVA,
    ],
    [
      401,
      { message: 'Authorization Error', errors: [{ resource: 'Application', field: '', code: 'invalid' }] },
      'client refused',
      STRAVA,
    ],
  ],
  Zoom: [
    [
      401,
      { reason: 'Invalid Token!', error: 'invalid_request' },
      'login required',
      'raycast/extensions#10896; tl-its-umich-edu/remote-office-hours-queue#363',
    ],
  ],
  X: [
    [
      400,
      said('invalid_request', 'Value passed for the token was invalid.'),
      'login required',
      'X: OAuth 2.0 Authorization Code Flow with PKCE',
    ],
  ],
  'RFC 9449': [
    [
      400,
      said('use_dpop_nonce', 'Authorization server requires nonce in DPoP proof'),
      'unavailable',
      'RFC 9449, section 8',
    ],
  ],
}

/** More shapes than those that were counted. */
export const MORE: Readonly<Record<string, readonly Shape[]>> = {
  'Exact Online': [
    [
      400,
      said('access_denied', 'Rate limit exceeded: access_token not expired'),
      'throttled',
      'websmurf/laravel-exact-online#31',
    ],
  ],
  Zoho: [
    [400, { error: 'Access Denied', status: 'failure' }, 'throttled', ZOHO],
    [200, { error: 'Access Denied', status: 'failure' }, 'throttled', ZOHO],
  ],
  Zoom: [
    [
      400,
      { reason: 'Invalid client_id or client_secret', error: 'invalid_client' },
      'client refused',
      'JubaerHossain/zoom-laravel#3',
    ],
  ],
  // It is the same for every error, so its meaning is unknown. The option `errors` can define it.
  Metabase: [
    [400, said('invalid_request', 'The token request is invalid.'), 'request refused', 'metabase/metabase#80389'],
  ],
  'Microsoft Entra': [
    [
      400,
      { ...said('invalid_grant', 'AADSTS50076: you must use multi-factor authentication'), suberror: 'basic_action' },
      'the person',
      'microsoftgraph/microsoft-graph-docs#6311',
    ],
  ],
  Slack: [[200, { ok: false, error: 'token_revoked' }, 'login required', SLACK]],
  'RFC 8693': [[200, { ...grant, token_type: 'N_A' }, 'used', 'RFC 8693, section 2.2.1']],
}

const SUPABASE = 'supabase/auth#2660, supabase/auth#2829'
const FITBIT = 'aarondcoleman/Fitbit.NET#320; home-assistant/core#141223'
const META = 'Meta: Graph API, Handle errors'
const WECHAT = 'overtrue/laravel-wechat#406; binarywang/WxJava#1533'
const LARK = 'Lark: Refresh user_access_token, error codes'
const TIKTOK_SHOP = 'EcomPHP/tiktokshop-php#15'
const WITHINGS = 'home-assistant/home-assistant.io#34285; Withings: Get access tokens'
const APPLE = 'Apple: Token validation, ErrorResponse'
const SPOTIFY = 'Spotify: Refreshing tokens'
const AWS_SSO = 'AWS IAM Identity Center: OIDC CreateToken, errors'
const LWA = 'Login with Amazon: Access token errors'
const page = (title: string) => `<!DOCTYPE html><html><head><title>${title}</title></head><body>${title}</body></html>`

/** The 60 shapes of the second study. */
export const LATER: Readonly<Record<string, readonly Shape[]>> = {
  Supabase: [
    [
      400,
      { code: 400, error_code: 'refresh_token_not_found', msg: 'Invalid Refresh Token: Refresh Token Not Found' },
      'login required',
      SUPABASE,
    ],
    [
      400,
      { code: 400, error_code: 'refresh_token_already_used', msg: 'Invalid Refresh Token: Already Used' },
      'login required',
      SUPABASE,
    ],
    [400, { code: 400, error_code: 'session_expired', msg: 'Session Expired' }, 'login required', SUPABASE],
    [
      429,
      { code: 429, error_code: 'over_request_rate_limit', msg: 'Request rate limit reached' },
      'throttled',
      SUPABASE,
    ],
  ],
  'RFC 9457': [
    [
      400,
      { type: 'invalid_grant', title: 'Bad Request', status: 400, detail: 'Token was refused' },
      'login required',
      'jentic/jentic-one#1339',
    ],
  ],
  'better-auth': [
    [400, said('invalid_request', 'session not found'), 'login required', 'better-auth/better-auth#8103'],
    [400, said('invalid_request', 'invalid refresh token'), 'login required', 'better-auth/better-auth#8099'],
  ],
  Fitbit: [
    [
      400,
      { errors: [{ errorType: 'invalid_grant', message: 'Refresh token invalid: hidden-value.' }], success: false },
      'login required',
      FITBIT,
    ],
    [
      401,
      { errors: [{ errorType: 'invalid_client', message: 'Invalid authorization header format.' }], success: false },
      'client refused',
      FITBIT,
    ],
    [
      400,
      { errors: [{ errorType: 'invalid_request', message: 'Missing parameters: refresh_token' }], success: false },
      'request refused',
      'lukasolson/fitbit-node#7',
    ],
  ],
  Meta: [
    [400, { error: { type: 'OAuthException', code: 190, fbtrace_id: 'hidden-value' } }, 'login required', META],
    [
      400,
      { error: { message: 'Error validating access token: Session has expired.', type: 'OAuthException', code: 102 } },
      'login required',
      META,
    ],
  ],
  Google: [[403, said('org_internal', 'This client is restricted'), 'the person', GOOGLE]],
  WeChat: [
    [200, { errcode: 40030, errmsg: 'invalid refresh_token, rid: hidden-value' }, 'login required', WECHAT],
    [200, { errcode: 61023, errmsg: 'refresh_token is invalid rid: hidden-value' }, 'login required', WECHAT],
    [200, { errcode: 40030 }, 'in doubt', WECHAT],
  ],
  Lark: [
    [200, { code: 20037, msg: 'refresh token expired' }, 'login required', LARK],
    [200, { code: 20037 }, 'in doubt', LARK],
    [400, { code: 20064, ...said('invalid_grant', 'The refresh token has been revoked.') }, 'login required', LARK],
  ],
  'TikTok Shop': [
    [200, { code: 36004001, message: 'rt has expired', request_id: 'hidden-value' }, 'in doubt', TIKTOK_SHOP],
    [200, { code: 36004005, message: 'can not find related auth record' }, 'in doubt', TIKTOK_SHOP],
  ],
  TikTok: [
    [
      200,
      { ...said('invalid_grant', 'Refresh token is invalid or expired.'), log_id: 'hidden-value' },
      'login required',
      'TikTok: Manage user access tokens',
    ],
  ],
  Withings: [
    [200, { status: 503, error: 'Invalid Params: invalid refresh_token' }, 'login required', WITHINGS],
    [200, { status: 601, body: {}, error: 'Too Many Requests' }, 'throttled', WITHINGS],
    [200, { status: 0, body: { userid: 1, ...pair } }, 'used', WITHINGS],
  ],
  'Microsoft Entra': [
    [
      400,
      said('invalid_grant', 'AADSTS50196: The server terminated an operation because it met a client request loop.'),
      'throttled',
      ENTRA,
    ],
    [
      400,
      said('invalid_grant', 'AADSTS700082: The refresh token has expired due to inactivity.'),
      'login required',
      'blobfile/blobfile#93',
    ],
    [
      400,
      { ...said('invalid_grant', 'AADSTS65001: The user has not consented.'), suberror: 'consent_required' },
      'the person',
      ENTRA,
    ],
    [
      400,
      { ...said('invalid_grant', 'AADSTS50055: The password is expired.'), suberror: 'user_password_expired' },
      'the person',
      ENTRA,
    ],
  ],
  'Ory Hydra': [
    [
      401,
      said('token_inactive', 'Token is inactive because it is malformed, expired or otherwise invalid.'),
      'login required',
      'ory/fosite: errors.go',
    ],
  ],
  'EVE Online': [
    [400, { error: 'invalid_grant: Token is expired' }, 'login required', 'EVE Online: SSO, Refresh tokens'],
    [400, { error: 'invalid_token' }, 'login required', 'ccpgames/sso-issues#31'],
  ],
  Databricks: [[400, said('invalid_grant', 'Refresh token is invalid'), 'login required', 'Databricks: OAuth U2M']],
  Schwab: [
    [400, said('invalid_grant'), 'login required', 'areed1192/td-ameritrade-python-api#124'],
    [
      400,
      said('unsupported_token_type', '400 Bad Request: "{"error":"refresh_token_authentication_error"}"'),
      'request refused',
      'tylerebowers/Schwabdev#40',
    ],
  ],
  Apple: [
    [400, { error: 'invalid_grant' }, 'login required', APPLE],
    [400, { error: 'invalid_client' }, 'client refused', APPLE],
  ],
  Dropbox: [
    [400, said('invalid_grant', 'refresh token is invalid or revoked'), 'login required', 'Dropbox: OAuth guide'],
  ],
  Spotify: [
    [400, said('invalid_grant', 'Refresh token revoked'), 'login required', SPOTIFY],
    [400, said('invalid_client', 'Invalid client secret'), 'client refused', SPOTIFY],
  ],
  DocuSign: [[400, said('invalid_grant', 'expired_client_token'), 'login required', 'docusign/code-examples-ruby#18']],
  Box: [[400, said('invalid_grant', 'Refresh token has expired'), 'login required', 'Box: Refresh access token']],
  LinkedIn: [
    [
      400,
      said('invalid_request', 'The provided refresh token is invalid, expired or revoked'),
      'login required',
      'LinkedIn: Programmatic refresh tokens',
    ],
  ],
  DeviantArt: [
    [
      400,
      { ...said('invalid_request', 'The refresh_token is invalid.'), status: 'error' },
      'login required',
      'wix-incubator/DeviantArt-API#58',
    ],
  ],
  Authlib: [
    [400, said('invalid_request', 'Invalid "refresh_token" in request.'), 'login required', 'authlib/authlib#112'],
  ],
  'Alibaba Cloud Drive': [
    [
      400,
      { code: 'InvalidParameter.RefreshToken', message: 'The input parameter refresh_token is not valid. ' },
      'login required',
      'ImYrS/aliyun-auto-signin#22',
    ],
  ],
  Zitadel: [[400, said('invalid_grant', 'Errors.User.RefreshToken.Invalid'), 'login required', 'Zitadel: Endpoints']],
  Square: [
    [401, { message: 'Not Authorized', type: 'service.not_authorized' }, 'client refused', 'Square: Obtain token'],
  ],
  'AWS IAM Identity Center': [
    [400, said('invalid_grant', 'Invalid refresh token provided'), 'login required', AWS_SSO],
    [401, said('invalid_client', 'Invalid client provided'), 'client refused', AWS_SSO],
  ],
  'Login with Amazon': [
    [400, said('invalid_grant', 'The request has an invalid grant parameter : refresh_token'), 'login required', LWA],
    [401, said('invalid_client', 'Client authentication failed'), 'client refused', LWA],
  ],
  Cloudflare: [
    [403, page('Attention Required! | Cloudflare'), 'stopped before', 'Cloudflare: 4xx errors'],
    [520, page('520: Web server is returning an unknown error'), 'failed', 'Cloudflare: 5xx errors'],
  ],
  'AWS WAF': [[403, page('ERROR: The request could not be satisfied'), 'stopped before', 'CloudFront: HTTP 403']],
  Notion: [
    [
      400,
      { object: 'error', status: 400, code: 'invalid_grant', message: 'The token was refused.' },
      'login required',
      'Notion: Refresh a token',
    ],
  ],
  eBay: [
    [
      400,
      said('invalid_grant', 'the provided authorization refresh token is invalid or was issued to another client'),
      'login required',
      'eBay: Using a refresh token',
    ],
  ],
  Calendly: [
    [
      400,
      said('invalid_grant', 'The provided authorization grant is invalid.'),
      'login required',
      'Calendly: Get access token',
    ],
  ],
  PayPal: [
    [401, said('invalid_client', 'Client Authentication failed'), 'client refused', 'PayPal: Get an access token'],
  ],
  'A server that says nothing': [[400, '', 'request refused', 'home-assistant/core#141223']],
}

const identity = (message: string, code = 400, status = 'INVALID_ARGUMENT') => ({ error: { code, message, status } })
const IDENTITY_TOOLKIT = 'Google: Firebase Auth REST API, Exchange a refresh token for an ID token'

/** What was reported in 2026. */
export const REPORTED: Readonly<Record<string, readonly Shape[]>> = {
  'Google Identity Toolkit': [
    [400, identity('TOKEN_EXPIRED'), 'login required', IDENTITY_TOOLKIT],
    [400, identity('USER_DISABLED'), 'login required', IDENTITY_TOOLKIT],
    [400, identity('USER_NOT_FOUND'), 'login required', IDENTITY_TOOLKIT],
    [400, identity('INVALID_REFRESH_TOKEN'), 'login required', IDENTITY_TOOLKIT],
    [
      400,
      identity('USER_DISABLED : The user account has been disabled by an administrator.'),
      'login required',
      'firebase/firebase-js-sdk: packages/auth/src/api/errors.ts',
    ],
    [400, identity('PROJECT_NUMBER_MISMATCH'), 'client refused', IDENTITY_TOOLKIT],
    [400, identity('API key not valid. Please pass a valid API key.'), 'client refused', IDENTITY_TOOLKIT],
    [400, identity('MISSING_REFRESH_TOKEN'), 'unclear', IDENTITY_TOOLKIT],
    [400, identity('QUOTA_EXCEEDED'), 'throttled', IDENTITY_TOOLKIT],
    [
      400,
      identity('QUOTA_EXCEEDED : Exceeded quota for refreshing tokens.'),
      'throttled',
      'firebase/firebase-js-sdk: packages/auth/src/api/errors.ts',
    ],
    [403, identity('Quota exceeded.', 403, 'RESOURCE_EXHAUSTED'), 'throttled', 'Google Cloud APIs: Errors'],
    [
      400,
      identity('TOO_MANY_ATTEMPTS_TRY_LATER'),
      'throttled',
      'firebase/firebase-js-sdk: packages/auth/src/api/errors.ts',
    ],
  ],
  'better-auth': [
    [400, said('invalid_request', 'user not found'), 'login required', 'better-auth 1.7, with its oauth-provider'],
    [400, said('invalid_request', 'user_id is missing'), 'request refused', 'better-auth 1.7, with its oauth-provider'],
  ],
  Slack: [
    [200, { ok: true, authed_user: { id: 'U1', ...pair, token_type: 'user' } }, 'used', SLACK_ROTATION],
    [200, { ok: true, ...pair, token_type: 'bot', authed_user: { id: 'U1' } }, 'used', SLACK_ROTATION],
  ],
}
