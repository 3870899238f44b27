/** One challenge of `WWW-Authenticate` (RFC 9110, section 11.6.1). The names are in lower case. */
export interface Challenge {
  readonly scheme: string
  readonly token68?: string
  readonly params: ReadonlyMap<string, string>
}

const TOKEN = /[\w!#$%&'*+.^`|~-]+/y
const TOKEN68 = /[\w.~+/-]+=*(?=[ \t]*(?:,|$))/y
const EQUALS = /[ \t]*=[ \t]*/y
const QUOTED = /"((?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*)"/y
const SPACES = / +/y
const OWS = /[ \t]*/y
/** No API needs more. */
const MAX_LENGTH = 16_384

/** Reads a text from left to right, by expressions that are sticky. */
class Reader {
  readonly #text: string
  at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.at === this.#text.length
  }

  /** @returns What `expression` finds here, or its first group; undefined if it finds nothing. Then nothing is consumed. */
  take(expression: RegExp): string | undefined {
    expression.lastIndex = this.at
    const found = expression.exec(this.#text)
    if (!found) return undefined
    this.at += found[0].length
    return found[1] ?? found[0]
  }

  takeComma(): boolean {
    this.take(OWS)
    const isComma = this.#text[this.at] === ','
    if (isComma) this.at += 1
    return isComma
  }
}

/** @returns The challenges of a `WWW-Authenticate` header, several lines joined by commas. None if it is not of the grammar. */
export function challengesIn(header: unknown): readonly Challenge[] {
  if (typeof header !== 'string' || header.length > MAX_LENGTH) return []
  const reader = new Reader(header)
  const challenges: (Challenge & { params: Map<string, string>; takesParams: boolean })[] = []
  for (;;) {
    // Empty elements of the list count for nothing.
    while (reader.takeComma());
    if (reader.isAtEnd) return challenges
    const last = challenges.at(-1)
    const param = paramIn(reader)
    if (param) {
      // A name counts once for each challenge.
      if (!last?.takesParams || last.params.has(param.name)) return []
      last.params.set(param.name, param.value)
    } else {
      const scheme = reader.take(TOKEN)?.toLowerCase()
      if (scheme === undefined) return []
      const hasSpace = reader.take(SPACES) !== undefined
      const first = hasSpace ? paramIn(reader) : undefined
      const token68 = hasSpace && !first ? reader.take(TOKEN68) : undefined
      const params = new Map(first && [[first.name, first.value]])
      challenges.push({ scheme, params, takesParams: hasSpace && !token68, ...(token68 !== undefined && { token68 }) })
    }
    const isAfterElement = reader.takeComma() || reader.isAtEnd
    if (!isAfterElement) return []
  }
}

/** @returns The parameter here; undefined, with nothing consumed, if there is none. */
function paramIn(reader: Reader): { name: string; value: string } | undefined {
  const { at } = reader
  const name = reader.take(TOKEN)?.toLowerCase()
  if (name !== undefined && reader.take(EQUALS) !== undefined) {
    const value = reader.take(QUOTED)?.replace(/\\(.)/g, '$1') ?? reader.take(TOKEN)
    if (value !== undefined) return { name, value }
  }
  reader.at = at
  return undefined
}

/** What can help after an answer that refuses a token: another token, a new proof with the same token, or nothing that the manager has. */
export type Cure = 'another-token' | 'new-proof' | 'none'

/** RFC 6750, section 3.1; RFC 9470, section 3; RFC 9449, section 9. An error that is not here asks for another token, as does none. */
const CURES: ReadonlyMap<string, Cure> = new Map<string, Cure>([
  ['insufficient_scope', 'none'],
  ['insufficient_user_authentication', 'none'],
  ['use_dpop_nonce', 'new-proof'],
  ['invalid_dpop_proof', 'new-proof'],
])

/** @param header `WWW-Authenticate` of the answer. If its challenges differ, the cure that is nearest to another token counts. */
export function cureOf(header: unknown): Cure {
  const errors = challengesIn(header).flatMap(({ params }) => params.get('error') ?? [])
  const cures = new Set(errors.map((error) => CURES.get(error) ?? 'another-token'))
  if (cures.size === 0 || cures.has('another-token')) return 'another-token'
  return cures.has('new-proof') ? 'new-proof' : 'none'
}
