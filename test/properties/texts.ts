import * as fc from 'fast-check'

/** Texts that confuse parsers, or that attackers use. */
const PIECES = [
  ...Array.from('{}[]",:\\/+-.\0\r\n\t €\ud800０٣'),
  '\\u0000',
  '\ufeff',
  '1e400',
  'null',
  ',"access":"evil"',
  '"__proto__":{"access":"evil"},',
  'Z',
  '60',
  'GMT',
]
const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'toJSON', 'length', 'kind']
const MEMBERS = [
  'data',
  'meta',
  'type',
  'id',
  'attributes',
  'access',
  'refresh',
  'errors',
  'error',
  'code',
  'sign',
  'time',
]
const VALUES = [
  '1e400',
  '-1',
  '0',
  '-0',
  '0.5',
  '"60"',
  '"0x3c"',
  '" 60"',
  '"\\ud800"',
  '""',
  '"a b"',
  '"Bearer"',
  '"auth-token"',
]

const edit = fc.record({
  does: fc.constantFrom('flip', 'delete', 'insert', 'duplicate'),
  at: fc.nat(),
  length: fc.integer({ min: 1, max: 12 }),
  piece: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', minLength: 1, maxLength: 3 })),
  bit: fc.nat({ max: 6 }),
})

function edited(
  text: string,
  { does, at, length, piece, bit }: typeof edit extends fc.Arbitrary<infer Edit> ? Edit : never,
) {
  const from = at % (text.length + 1)
  const [head, tail] = [text.slice(0, from), text.slice(from)]
  switch (does) {
    case 'flip':
      return tail === '' ? head : head + String.fromCharCode(tail.charCodeAt(0) ^ (1 << bit)) + tail.slice(1)
    case 'delete':
      return head + tail.slice(length)
    case 'insert':
      return head + piece + tail
    default:
      return head + tail.slice(0, length) + tail
  }
}

/** Valid texts with one to four changes: characters flipped, deleted, inserted, doubled. */
export const mutated = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(texts, fc.array(edit, { minLength: 1, maxLength: 4 })).map(([text, edits]) => edits.reduce(edited, text))

/** Any JSON value as text, including values that JavaScript cannot express. */
export const jsonTexts: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...VALUES),
  fc.json({ maxDepth: 2 }),
  fc
    .tuple(fc.constantFrom(...KEYS, ...MEMBERS), fc.constantFrom(...VALUES))
    .map(([key, value]) => `{"${key}":{"${key}":${value}}}`),
)

/** Documents in which objects have an additional member, first or last: one that reaches a prototype, or a duplicate. */
export const overfull = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      texts,
      fc.array(fc.tuple(fc.constantFrom(...KEYS, ...MEMBERS), jsonTexts, fc.nat({ max: 2 })), { minLength: 12 }),
    )
    .map(([text, given]) => {
      const members = [...given]
      const next = (place: number) => {
        const member = members.shift()
        return member?.[2] === place ? `"${member[0]}":${member[1]}` : undefined
      }
      return text
        .replace(/\{(?=")/g, () => `{${next(1)?.concat(',') ?? ''}`)
        .replace(/(?<=[^{])\}/g, () => `${next(2)?.replace(/^/, ',') ?? ''}}`)
    })

/** Anything at all, and objects with some of these members. */
export const anyWith = (names: readonly string[], values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }),
    fc.record(Object.fromEntries(names.map((name) => [name, values])), { requiredKeys: [], noNullPrototype: false }),
  )

/** @returns The own keys of all prototypes that parsed JSON might reach. */
export function prototypes(): string {
  const reachable = [Object, Array, Function, String, Number, Promise, Error]
  return reachable
    .map(({ prototype }) =>
      Reflect.ownKeys(prototype as object)
        .map(String)
        .join(),
    )
    .join('\n')
}
