import { parsedUrl } from '../core/secure-origin.ts'
import { member, quietly } from '../core/thrown.ts'
import type { TokenResponse } from './token-response.ts'
import { isOfIntermediary, shownBy } from './intermediary.ts'
import { read } from './meaning.ts'
import { toError } from './to-error.ts'

/** The proxy of a request. */
export interface Proxy {
  /** Host and port, without user and password. */
  readonly address: string
  /** The environment variable, or the option, that names the proxy. */
  readonly setBy: string
}

/**
 * Finds the proxy of a request, for messages. axios takes proxies from the environment, and users do not look there if the address in the message is right.
 *
 * @param request The `request` of the response or of the error: in Node, it shows whether there was a proxy.
 * @param own `proxy` of the transport options.
 * @returns undefined without a proxy, or if no known setting names it.
 */
export function proxyOf(request: unknown, url: URL, own?: unknown): Proxy | undefined {
  const host = proxyHost(request)
  if (host === undefined) return undefined
  const found = settings(url, own).find(({ proxy }) => proxy?.hostname.replace(/^\[|\]$/g, '') === host)
  if (!found?.proxy) return undefined
  const { hostname, port, protocol } = found.proxy
  return { address: `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`, setBy: found.name }
}

/** Like `proxyOf`, as text for messages. */
export function throughProxy(request: unknown, url: URL, own?: unknown): string | undefined {
  const proxy = proxyOf(request, url, own)
  return proxy && `through the proxy ${proxy.address} of ${proxy.setBy}`
}

/** What to do if a request through a proxy failed. */
export const CHECK_PROXY = 'check the proxy, or name the host in NO_PROXY'

/** @returns The host that the request was sent to instead of the host of its URL. */
function proxyHost(request: unknown): string | undefined {
  // For https, an agent opens a tunnel. For http, the request line has the whole URL (RFC 9112, section 3.2.2).
  const tunnel = member(member(member(request, 'agent'), 'proxy'), 'hostname')
  const isWhole = /^https?:\/\//.test(String(member(request, 'path')))
  const host = tunnel ?? (isWhole ? member(request, 'host') : undefined)
  return typeof host === 'string' ? host.toLowerCase() : undefined
}

interface Setting {
  readonly name: string
  readonly proxy: URL | undefined
}

/** The settings in the order in which axios reads them. */
function settings({ protocol }: URL, own: unknown): Setting[] {
  const host = member(own, 'host')
  if (typeof host === 'string')
    return [{ name: 'transport.proxy', proxy: proxyUrl(`${host}:${String(member(own, 'port'))}`) }]
  const names = [`${protocol.slice(0, -1)}_proxy`, 'all_proxy'].flatMap((name) => [name, name.toUpperCase()])
  return names.map((name) => ({ name, proxy: proxyUrl(environment(name)) }))
}

function proxyUrl(text: string): URL | undefined {
  return text === '' ? undefined : parsedUrl(text.includes('://') ? text : `http://${text}`)
}

/** Some runtimes ask the user before they reveal a variable, or throw. */
function environment(name: string): string {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return quietly(() => process?.env?.[name]) ?? ''
}

/**
 * @returns The same response.
 * @throws {TokenError} `ERR_TOKEN_REQUEST` if a proxy responds with its own page, which rejects neither credentials nor a refresh token.
 */
export function checkNotFromProxy(response: TokenResponse): TokenResponse {
  const { status, proxy, address, retryAfterMs } = response
  const shown = shownBy(response)
  if (proxy === undefined || !isOfIntermediary(shown)) return response
  throw toError(read('refresh', shown), `${address} responded with ${status} and a web page ${proxy}: ${ASK}`, {
    status,
    retryAfterMs,
  })
}
const ASK = 'ask whoever runs the proxy, or name the host in NO_PROXY'
