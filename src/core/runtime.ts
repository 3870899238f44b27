/** What Node and similar runtimes offer beyond the language. Looked up when needed, so that no Node import reaches a browser. */
interface Runtime {
  readonly console?: { warn?(message: string): void }
  readonly crypto?: { readonly subtle?: unknown }
  readonly isSecureContext?: boolean
  readonly navigator?: { readonly onLine?: boolean }
  readonly process?: {
    emitWarning?(message: string, options: { type: string; code: string; detail: string }): void
  }
}

/**
 * @param what Names the option that needs `crypto.subtle`.
 * @throws {TypeError} on a page that is no secure context: browsers do not offer it there.
 */
export function checkWebCrypto(what: string, otherwise: string): void {
  const { crypto, isSecureContext, process } = globalThis as Runtime
  const isPage = isSecureContext === false
  // jsdom hides what Node has.
  if (crypto?.subtle || (!isPage && process?.versions?.node !== undefined)) return
  throw new TypeError(
    isPage
      ? `${what} needs WebCrypto, which browsers offer to pages of https and of localhost only: serve the page over https, or ${otherwise}`
      : `${what} needs crypto.subtle, which this runtime lacks: load a polyfill before axios-evergreen (for React Native, docs/works-with.md names one), or ${otherwise}`,
  )
}

/**
 * @param axios A test may have put something else in its place, without a version.
 * @throws {TypeError} With an older axios a token call would fail without a word of the reason.
 */
export function checkAxios(axios: unknown): void {
  const { VERSION: version } = (axios ?? {}) as { readonly VERSION?: unknown }
  const [major = 0, minor = 0] = typeof version === 'string' ? version.split('.').map(Number) : [1, 18]
  if (major < 1 || (major === 1 && minor < 18))
    throw new TypeError(
      `axios-evergreen needs axios 1.18 or newer, and this is ${String(version)}: npm install axios@latest`,
    )
}

/** Whether this is a browser that is certainly offline. */
export function isOffline(): boolean {
  return (globalThis as Runtime).navigator?.onLine === false
}

const told = new Set<string>()

const EVENTS =
  'Listen to the events of the token manager to be told each time: https://www.npmjs.com/package/axios-evergreen#events'

/** Warns once per code in a process: by a warning of the process if the runtime has such, else on the console. */
export function warnOnce(code: string, message: string, detail = EVENTS): void {
  if (told.has(code)) return
  told.add(code)
  const { process, console } = globalThis as Runtime
  if (process?.emitWarning) process.emitWarning(message, { type: 'AxiosEvergreenWarning', code, detail })
  else console?.warn?.(`axios-evergreen: ${message}\n${detail}`)
}
