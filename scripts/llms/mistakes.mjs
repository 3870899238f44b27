/**
 * Ten mistakes, as a user would describe them. `says` is a part of the error or of what the doctor prints (test/llms.test.ts).
 *
 * @type {readonly { name: string, wrong: string, says: string, right: string }[]}
 */
export const MISTAKES = [
  {
    name: 'no-secret',
    wrong: 'The environment variable of the secret is not set',
    says: 'is the environment variable set?',
    right: "Set it. Write `process.env.CLIENT_SECRET ?? ''`, never the secret itself",
  },
  {
    name: 'option',
    wrong: '`oauth2({ scopes: [...] })`, `createTokenManager({ skewMs })`',
    says: "did you mean 'scope'?",
    right: 'Use only the options of docs/reference.md and docs/oauth2.md: `scope: "a b"`, `renewal: { skewMs }`',
  },
  {
    name: 'default-header',
    wrong: 'The instance still sets `Authorization` by itself',
    says: 'would switch the attachment off: delete it there',
    right: 'Delete that header, and every interceptor that sets it or refreshes a token',
  },
  {
    name: 'second-manager',
    wrong: 'A manager for each request, component or instance',
    says: 'use one manager, or one store for both',
    right: 'Create one manager per account, and attach every instance to it',
  },
  {
    name: 'no-account',
    wrong: "`grant: 'login'` with a shared store, without `account`",
    says: 'two accounts must not share a key',
    right: 'Set `account: userId`, a different one for each user',
  },
  {
    name: 'undefined-account',
    wrong: '`` account: `user-${undefined}` ``',
    says: 'a value is missing',
    right: 'Check the id first: users with the same account share a login',
  },
  {
    name: 'fetch-response',
    wrong: '`adopt(fromTokenResponse(await fetch(…)))`',
    says: 'is it a response of a token endpoint?',
    right: 'Pass the document: `fromTokenResponse(await response.json())`',
  },
  {
    name: 'http',
    wrong: 'An API or a token endpoint with `http://`',
    says: 'set allowInsecureHttp to send secrets unencrypted',
    right: 'Use https. Addresses of this machine need no option',
  },
  {
    name: 'payment-service',
    wrong: '`clientCredentials({ baseUrl })` for an OAuth 2.0 server',
    says: 'use oauth2 of axios-evergreen/oauth2',
    right: 'Use `oauth2({ tokenEndpoint, clientId, clientSecret })`. `clientCredentials` is for one payment service',
  },
  {
    name: 'web-page',
    wrong: 'The token endpoint is the address of a login page',
    says: 'The response is a web page',
    right: '`npx axios-evergreen doctor` names the token endpoint if the server has metadata',
  },
]
