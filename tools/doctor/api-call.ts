import axios from 'axios'
import { attachBearer, isTokenError, type TokenManager } from '../../src/index.ts'
import { parseHttpDate } from '../../src/wire/http-date.ts'
import { throughProxy } from '../../src/wire/proxy.ts'
import { verdictOn } from './api-verdict.ts'
import { challengeIn } from './challenge.ts'
import type { Findings, Problem } from './findings.ts'

const API_LIMIT_MS = 10_000

/**
 * @returns A function that sends one GET with the token, and records the findings.
 * @throws {TypeError} for an address that must not receive a token.
 */
export function apiCall(
  address: string,
  tokens: TokenManager,
  allowInsecureHttp: boolean,
): (findings: Findings) => Promise<void> {
  const instance = axios.create({
    maxRedirects: 0,
    validateStatus: null,
    responseType: 'stream',
    timeout: API_LIMIT_MS,
    signal: AbortSignal.timeout(2 * API_LIMIT_MS),
  })
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError('--api must be an absolute http or https URL')
  if (url.username || url.password) throw new TypeError('--api must not carry a user or password')
  // The doctor reports the response of the API to this token, so there is no renewal and no replay.
  attachBearer(instance, tokens, { origins: [url.origin], refuses: () => false, allowInsecureHttp })
  return async (findings) => {
    const shown = url.origin + url.pathname
    const problem = (code: Problem['code'], message: string, ...advice: string[]) =>
      findings.problems.push({ step: 'api', code, message, advice })
    try {
      const response = await instance.get<{ destroy?: () => void }>(url.href)
      response.data.destroy?.()
      const date = parseHttpDate(response.headers.date, Date.now())
      if (date !== undefined && !isService(url, findings)) findings.apiAheadMs = date - Date.now()
      const { status } = response
      const { takesToken, because, advice } = verdictOn(status)
      const challenge = challengeIn(response.headers['www-authenticate'], tokens.peekAccessToken() ?? '')
      findings.api = { url: shown, status, takesToken, ...(challenge !== undefined && { challenge }) }
      if (because === undefined) return
      const met = [`${shown} responded with ${status}`, throughProxy(response.request as unknown, url)]
        .filter(Boolean)
        .join(' ')
      problem(takesToken === false ? 'API_REFUSES_TOKEN' : 'API_UNCLEAR', `${met}: ${because}`, ...advice)
    } catch (error) {
      if (isTokenError(error)) return void problem(error.code, error.message)
      const { code = 'no error code', request } = error as { code?: string; request?: unknown }
      const failed = [`${shown} did not respond (${code})`, throughProxy(request, url)].filter(Boolean).join(' ')
      problem('API_UNCLEAR', failed, 'Check the address, the proxy and the certificate.')
    }
  }
}

/** Whether the API is at the origin of the token service, so that both may have one clock. */
function isService({ origin }: URL, { baseUrl, issuer, tokenEndpoint }: Findings): boolean {
  return [baseUrl, issuer, tokenEndpoint].some((address) => address !== undefined && new URL(address).origin === origin)
}
