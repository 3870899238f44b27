import assert from 'node:assert/strict'
import { markdownTable } from '../../lib/pages.mjs'

/** The row of each program in the table of docs/works-with.md: its library, and what to know about it. */
const ROWS = {
  'axios-retry': [
    'axios-retry',
    'A retry gets the current token. The library does not see a 401 after which the package sends the request again (a replay).',
  ],
  'retry-axios': ['retry-axios', 'The same.'],
  'axios-cache-interceptor': [
    'axios-cache-interceptor',
    'Use one cache per account, even if the API sends `Vary: Authorization`.',
  ],
  'axios-rate-limit': ['axios-rate-limit', 'Token requests and replays are not counted.'],
  'axios-cookiejar-support': [
    'axios-cookiejar-support',
    'A replay sends the cookies that came with the 401. Token requests have no cookies.',
  ],
  'axios-logger': ['axios-logger', 'Its lines contain no token. A request without a token is logged as a failure.'],
  'nestjs-axios': ['@nestjs/axios', 'Attach `httpService.axiosRef`. Unsubscribing ends the wait for a token.'],
  'axios-mock-adapter': [
    'axios-mock-adapter',
    'The mock sees the token while it responds. Its history has no `Authorization` header.',
  ],
  nock: ['nock', 'Mocks the API, the token service, or both.'],
  msw: ['msw', 'The same, with either adapter of axios.'],
  'undici-mock-agent': ['undici', "`MockAgent`: for `adapter: 'fetch'`. It does not see token requests."],
  agentkeepalive: ['agentkeepalive', 'The API and the token service need one socket each.'],
  'http-proxy-agent': ['http-proxy-agent', 'Token requests need it too: `transport: { httpAgent }`.'],
  'https-proxy-agent': [
    'https-proxy-agent',
    'Token requests need it too: `transport: { httpsAgent }`. The proxy sees no token.',
  ],
}

/** On no axios instance: docs/fetch.md names the clients of fetch, and docs/oauth2.md openid-client. */
const ELSEWHERE = ['fetch-clients', 'sdks', 'openid-client']

/** @returns The table of docs/works-with.md as it should be, if all programs passed in both orders. */
export function tableOf(programs, { dependencies, optionalDependencies }) {
  const onInstances = programs.filter((name) => !ELSEWHERE.includes(name) && !isNewer(name))
  assert.deepEqual(Object.keys(ROWS).sort(), onInstances.toSorted(), 'each program has a row')
  const newer = (library) => optionalDependencies[`${library}-newer`]?.split('@')[1]
  const versions = (library) => [dependencies[library], newer(library)].filter(Boolean).join(', ')
  const rows = Object.values(ROWS).map(([library, know]) => [`\`${library}\``, versions(library), know])
  return `${markdownTable([['library', 'version', 'what to know'], ...rows])}\n\nWith axios ${dependencies.axios}.`
}

/** Whether a program is of a newer major, which Node 20 cannot run. The older major is checked, too. */
export function isNewer(program) {
  return program.endsWith('-newer')
}
