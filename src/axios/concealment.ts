/**
 * Takes the token off what an adapter hands out: `request` holds the raw header text, and `config` may be a copy.
 *
 * @param header In lower case.
 * @param sent The headers that went out; the caller cleans these.
 */
function conceal(holder: unknown, header: string, sent: object): void {
  if (typeof holder !== 'object' || holder === null) return
  const { request, config } = holder as { request?: unknown; config?: { headers?: object } }
  // Test doubles hand out configs of any shape, and frozen ones.
  const headers = config?.headers ?? {}
  if (headers !== sent) deleteHeader(headers, header)
  // Still readable, but not printed.
  if (request === undefined) return
  Reflect.defineProperty(holder, 'request', { value: request, enumerable: false, writable: true, configurable: true })
}

/** The same for an error and its causes, which may be axios errors as well. */
export function concealError(error: unknown, header: string, sent: object): void {
  let link = error
  for (let depth = 0; depth < 4 && typeof link === 'object' && link !== null; depth += 1) {
    conceal(link, header, sent)
    link = (link as Error).cause
  }
}

/** The same for a response, and for what breaks off its body where the user reads that as a stream. */
export function concealResponse(response: unknown, header: string, sent: object): void {
  conceal(response, header, sent)
  const { data } = (response ?? {}) as { data?: unknown }
  if (typeof data !== 'object' || data === null) return
  const { on, constructor } = data as { on?: unknown; constructor?: { errorMonitor?: symbol } }
  if (typeof on !== 'function' || !constructor?.errorMonitor) return
  // Hears of errors without handling them: one that nobody handles must end the process still.
  on.call(data, constructor.errorMonitor, (error: unknown) => concealError(error, header, sent))
}

/** A request of fetch shows its headers where it is printed, and no error that holds it can be caught on its way out of a stream. */
export function concealRequest(request: object): void {
  const { method, url } = request as Partial<Request>
  const print = { value: () => `Request ${method} ${url}`, configurable: true }
  // It may be frozen.
  Reflect.defineProperty(request, Symbol.for('nodejs.util.inspect.custom'), print)
}

export function deleteHeader(headers: object, header: string): void {
  for (const name of Object.keys(headers)) if (name.toLowerCase() === header) Reflect.deleteProperty(headers, name)
}
