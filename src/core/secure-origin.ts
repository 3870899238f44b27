import { kindOf, wrong } from './option-checks.ts'

/** Excludes `tenant.localhost`, because DNS may resolve such a name to another machine. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** @returns Undefined if `text` is not a URL. Does not use `URL.canParse`: once optimized by Node 20, it rejects `https://bücher.example`. */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

/** Whether secrets may be sent to `url`: over https, or over http to this machine or with the user's permission. */
export function mayCarrySecrets(url: URL, allowInsecureHttp: boolean): boolean {
  if (url.protocol === 'https:') return true
  return url.protocol === 'http:' && (allowInsecureHttp || LOOPBACK.test(url.hostname))
}

/**
 * @returns `value` as a URL that may carry secrets.
 * @throws {TypeError} Naming the option, and its value without the parts that may be secret: user, password and query.
 */
export function checkedSecureUrl(name: string, value: unknown, allowInsecureHttp: boolean): URL {
  const text = value instanceof URL ? value.href : value
  if (typeof text !== 'string')
    throw wrong(name, 'a URL', `${kindOf(value)}${value === undefined ? ': is the environment variable set?' : ''}`)
  const url = parsedUrl(text)
  const isHttp = url !== undefined && /^https?:$/.test(url.protocol)
  // Any other text may contain a password anywhere.
  const given = isHttp ? url.origin + url.pathname : /[@?#]/.test(text) ? 'another string' : `'${text}'`
  if (!isHttp) throw wrong(name, 'an absolute http or https URL', given)
  if (url.username || url.password) throw new TypeError(`${name} must not carry a user or password, got ${given}`)
  if (!mayCarrySecrets(url, allowInsecureHttp))
    throw wrong(name, 'https', `${given}; set allowInsecureHttp to send secrets unencrypted`)
  return url
}
