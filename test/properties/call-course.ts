import * as fc from 'fast-check'

/** One call of fetch as data, so that its objects can be created again. */
export interface Told {
  readonly address: 'text' | 'URL' | 'Request' | 'Request of a class' | 'own text'
  /** To an origin that may receive the token. */
  readonly isHome: boolean
  readonly path: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly init: 'plain' | 'of a class' | 'inherits' | 'without a prototype'
  readonly headers: 'none' | 'record' | 'lists' | 'pairs' | 'Headers' | 'Map' | 'entries' | 'generator' | 'iterable'
  readonly values: readonly string[]
  readonly body:
    'none' | 'text' | 'bytes' | 'numbers' | 'part' | 'buffer' | 'params' | 'form' | 'blob' | 'file' | 'stream'
  readonly content: readonly string[]
  /** Where a Request has its headers and its body: in itself, or in `init`. */
  readonly isInRequest: boolean
  /** The API rejects the first token that it sees. */
  readonly isRejected: boolean
}

export interface CallCourse {
  /** A token is available. */
  readonly isWarm: boolean
  readonly hasKey: boolean
  /** The API requires a nonce. */
  readonly wantsNonce: boolean
  readonly calls: readonly Told[]
}

const word = fc.stringMatching(/^[a-z0-9]{1,6}$/)
const told: fc.Arbitrary<Told> = fc.record({
  address: fc.constantFrom('text', 'URL', 'URL', 'Request', 'Request of a class', 'own text'),
  isHome: fc.constantFrom(true, true, true, false),
  path: word.map((name) => `/${name}?page=${name.length}`),
  method: fc.constantFrom('GET', 'POST', 'POST', 'PUT', 'DELETE'),
  init: fc.constantFrom('plain', 'plain', 'of a class', 'inherits', 'without a prototype'),
  headers: fc.constantFrom(
    'none',
    'record',
    'record',
    'lists',
    'pairs',
    'Headers',
    'Map',
    'entries',
    'generator',
    'iterable',
  ),
  values: fc.array(word, { minLength: 1, maxLength: 3 }),
  body: fc.constantFrom(
    'none',
    'text',
    'bytes',
    'numbers',
    'part',
    'buffer',
    'params',
    'form',
    'blob',
    'file',
    'stream',
  ),
  content: fc.array(word, { minLength: 1, maxLength: 3 }),
  isInRequest: fc.boolean(),
  isRejected: fc.boolean(),
})

export const callCourses: fc.Arbitrary<CallCourse> = fc.record({
  isWarm: fc.boolean(),
  hasKey: fc.constantFrom(false, false, true),
  wantsNonce: fc.boolean(),
  calls: fc.array(told, { minLength: 1, maxLength: 3 }),
})

/** The arguments of fetch. */
export interface Given {
  readonly input: unknown
  readonly init: unknown
  /**
   * Changes all arguments, as far as they can be changed.
   *
   * @param leftAtOnce The request was sent in the turn of its call. A Request without a body is not copied then: only its headers are changed here.
   */
  scramble(leftAtOnce: boolean): void
}

/** Whether the body of the call can be sent only once: a Request keeps a copy of its stream. */
export const isOnce = ({ address, method, body, isInRequest }: Told) =>
  body === 'stream' && method !== 'GET' && !(address.startsWith('Request') && isInRequest)

class OwnRequest extends Request {}

/** @param elsewhere Where a scrambled call goes. */
export function givenOf(told: Told, origin: string, elsewhere: string): Given {
  const { address, path, method, isInRequest } = told
  const isRequest = address.startsWith('Request')
  const hasBody = method !== 'GET' && told.body !== 'none'
  const [headers, body] = [headersOf(told), hasBody ? bodyOf(told) : undefined]
  const members: Record<string, unknown> = { method }
  if (headers !== undefined) members.headers = headers
  if (body !== undefined) members.body = body
  if (told.body === 'stream') members.duplex = 'half'
  const url = origin + path
  const made = address === 'Request' ? Request : OwnRequest
  const isWhole = isRequest && isInRequest
  const input = isRequest
    ? new made(url, isWhole ? members : { method, headers: { 'x-hidden': '1' } })
    : { text: url, URL: new URL(url), 'own text': { toString: () => url } }[address as 'text']
  const init = isWhole ? undefined : initOf(told.init, members)
  return {
    input,
    init,
    scramble(leftAtOnce) {
      if (!isRequest) scrambleAddress(input, elsewhere)
      else scrambleRequest(input as Request, elsewhere, !leftAtOnce || (isWhole && hasBody))
      if (!isWhole) scrambleHeaders(headers)
      if (!isWhole) scrambleBody(body)
      scrambleMembers(init, elsewhere)
    },
  }
}

function initOf(kind: Told['init'], members: Record<string, unknown>): object {
  if (kind === 'plain') return { ...members }
  if (kind === 'without a prototype') return Object.assign(Object.create(null) as object, members)
  if (kind === 'inherits') return Object.create({ ...members }) as object
  const held = { ...members }
  class Settings {
    readonly held = held
  }
  for (const name of Object.keys(members))
    Object.defineProperty(Settings.prototype, name, { get: () => held[name], configurable: true })
  return new Settings()
}

function headersOf({ headers, values }: Told): unknown {
  const pairs = values.map((value, n): [string, string] => [`X-${n}`, value])
  function* one() {
    for (const pair of pairs) yield [...pair]
  }
  const iterator = one()
  return {
    none: undefined,
    record: Object.fromEntries(pairs),
    lists: { 'x-list': [...values] },
    pairs,
    Headers: new Headers(pairs),
    Map: new Map(pairs),
    entries: new Map(pairs).entries(),
    generator: one(),
    iterable: { [Symbol.iterator]: () => iterator },
  }[headers]
}

function bodyOf({ body, content }: Told): unknown {
  const text = content.join()
  const bytes = new TextEncoder().encode(text)
  const form = new FormData()
  for (const [n, value] of content.entries()) form.append(`field-${n % 2}`, value)
  form.append('file', new File([text], 'name.txt'))
  return {
    none: undefined,
    text,
    bytes,
    numbers: Float64Array.from(content, (value) => value.length),
    part: new DataView(bytes.buffer, 1),
    buffer: bytes.buffer,
    params: new URLSearchParams(content.map((value, n): [string, string] => [`p-${n % 2}`, value])),
    form,
    blob: new Blob([text], { type: 'text/plain' }),
    file: new File([text], 'name.txt'),
    stream: body === 'stream' ? new Blob([text]).stream() : undefined,
  }[body]
}

/** Adds a member to an object that hides that of its class. */
const hide = (object: object, name: string, value: unknown) =>
  Object.defineProperty(object, name, { value, configurable: true, writable: true, enumerable: true })

function scrambleAddress(input: unknown, elsewhere: string): void {
  if (typeof input !== 'object' || input === null) return
  if (input instanceof URL) {
    input.searchParams.set('page', 'scrambled')
    input.href = `${elsewhere}/scrambled`
  }
  hide(input, 'href', `${elsewhere}/scrambled`)
  hide(input, 'url', `${elsewhere}/scrambled`)
  hide(input, 'toString', () => `${elsewhere}/scrambled`)
  Object.setPrototypeOf(input, { toString: () => `${elsewhere}/scrambled` })
}

function scrambleRequest(request: Request, elsewhere: string, whole: boolean): void {
  request.headers.set('x-0', 'scrambled')
  request.headers.set('authorization', 'scrambled')
  request.text().catch(() => 'it was read')
  if (!whole) return
  for (const name of ['url', 'method', 'headers', 'body', 'mode', 'redirect', 'clone']) hide(request, name, elsewhere)
  Object.setPrototypeOf(request, null)
}

function scrambleHeaders(headers: unknown): void {
  if (headers instanceof Headers || headers instanceof Map) {
    for (const name of [...headers.keys()] as string[]) headers.delete(name)
    headers.set('authorization', 'scrambled')
  } else if (Array.isArray(headers)) {
    for (const pair of headers as string[][]) pair[1] = 'scrambled'
    headers.push(['authorization', 'scrambled'])
  } else if (headers !== undefined) {
    for (const value of Object.values(headers as object) as unknown[]) if (Array.isArray(value)) value.push('scrambled')
    for (const name of Object.keys(headers as object)) hide(headers as object, name, 'scrambled')
    hide(headers as object, 'authorization', 'scrambled')
    ;(headers as Partial<Iterator<unknown>>).return?.()
  }
  if (headers !== undefined) Object.setPrototypeOf(headers, { 'x-inherited': 'scrambled' })
}

function scrambleBody(body: unknown): void {
  if (typeof body !== 'object' || body === null || body instanceof ReadableStream) return
  if (body instanceof FormData || body instanceof URLSearchParams) {
    for (const name of [...body.keys()]) body.delete(name)
    body.append('scrambled', 'yes')
  }
  const buffer = ArrayBuffer.isView(body) ? body.buffer : body
  if (buffer instanceof ArrayBuffer) {
    new Uint8Array(buffer).fill(0x21)
    structuredClone(buffer, { transfer: [buffer] })
  }
  hide(body, 'size', 0)
  hide(body, 'type', 'scrambled')
  Object.setPrototypeOf(body, null)
}

function scrambleMembers(init: unknown, elsewhere: string): void {
  if (init === undefined) return
  const members = init as Record<string, unknown>
  const others = { method: 'PATCH', headers: { authorization: 'scrambled' }, body: 'scrambled', redirect: 'error' }
  const more = { mode: 'no-cors', keepalive: true, signal: AbortSignal.abort(), url: elsewhere, duplex: 'full' }
  for (const [name, value] of Object.entries({ ...others, ...more })) hide(members, name, value)
  Object.setPrototypeOf(members, others)
}
