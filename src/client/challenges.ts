/** Groups: the name; its value as a token, or in quotes. */
const PARAMETER =
  /([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:([\w!#$%&'*+.^`|~-]+)|"((?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*)")/y
/** Group: the spaces before what the challenge brings along. */
const SCHEME = /[\w!#$%&'*+.^`|~-]+( +)?/y
const TOKEN68 = /[\w.~+/-]+=*/y
/** Empty elements of the list count for nothing. */
const LIST_START = /[ \t,]*/y
const ELEMENT_END = /[ \t]*(?:,[ \t,]*|$)/y
const END = /$/y
/** No API needs more. */
const MAX_LENGTH = 16_384

/** Reads a text from left to right. @returns What the sticky expression finds at this place; null, with nothing consumed, if it finds nothing. */
function readerOf(text: string): (expression: RegExp) => RegExpExecArray | null {
  let at = 0
  return (expression) => {
    expression.lastIndex = at
    const found = expression.exec(text)
    if (found) at = expression.lastIndex
    return found
  }
}

/**
 * @param header `WWW-Authenticate` (RFC 9110, sections 11.2 to 11.6), several lines joined by commas.
 * @returns The `error` of each challenge that has one. None if the header is not of the grammar.
 */
export function errorsIn(header: unknown): readonly string[] {
  if (typeof header !== 'string' || header.length > MAX_LENGTH) return []
  const take = readerOf(header)
  const errors: string[] = []
  /** The names of the last challenge's parameters. Undefined: it takes none. */
  let names: Set<string> | undefined
  take(LIST_START)
  while (!take(END)) {
    let parameter = take(PARAMETER)
    if (!parameter) {
      const scheme = take(SCHEME)
      if (!scheme) return []
      const hasMore = scheme[1] !== undefined
      if (hasMore) parameter = take(PARAMETER)
      names = hasMore && (parameter || !take(TOKEN68)) ? new Set() : undefined
    }
    if (parameter) {
      const [, name = '', word, quoted = ''] = parameter
      const known = name.toLowerCase()
      // A name counts once for each challenge.
      if (!names || names.has(known)) return []
      names.add(known)
      if (known === 'error') errors.push(word ?? quoted.replace(/\\(.)/g, '$1'))
    }
    if (!take(ELEMENT_END)) return []
  }
  return errors
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
  const cures = new Set(errorsIn(header).map((error) => CURES.get(error) ?? 'another-token'))
  if (cures.size === 0 || cures.has('another-token')) return 'another-token'
  return cures.has('new-proof') ? 'new-proof' : 'none'
}
