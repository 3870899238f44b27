import { quietly } from '../core/thrown.ts'

type Members = Readonly<Record<string, unknown>>

/** @returns The JSON object in `text`; undefined if the text is anything else. */
export function documentIn(text: string): Members | undefined {
  const document = quietly(() => JSON.parse(text) as unknown)
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
  return isObject ? (document as Members) : undefined
}

/** @returns The document's own member; undefined where the member is absent or null. */
export function memberOf(document: Members | undefined, name: string): unknown {
  return document && Object.hasOwn(document, name) ? (document[name] ?? undefined) : undefined
}

/** @returns `error` of an error answer (RFC 6749, section 5.2), if its value is one word. */
export function errorIn(document: Members | undefined): string | undefined {
  const error = memberOf(document, 'error')
  return typeof error === 'string' && /^[\w.-]{1,40}$/.test(error) ? error : undefined
}

/** @returns A message, if the answer is in the protocol of the two other sources (their specification, sections 2 and 7). */
export function otherProtocol(document: Members | undefined): string | undefined {
  const shown = ['errors', 'data'].find((name) => typeof memberOf(document, name) === 'object')
  if (shown === undefined) return undefined
  return `it speaks no OAuth 2.0 (${shown}): is this the service of clientCredentials() and loginPassword() of axios-evergreen?`
}
