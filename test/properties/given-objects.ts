import { AxiosHeaders } from 'axios'

/** An object that a caller passes to a request. The caller may reuse it: `fill` gives it the values of another request. */
export interface Shape<Given = unknown> {
  readonly make: () => Given
  /** @param word Its new content, a text of eight characters. */
  fill(given: Given, word: string): void
}

export type Form = Shape | Fixed

/** The content of the caller's objects after the call. */
export const SCRAMBLED = '!changed'

const shape = <Given>(make: () => Given, fill: Shape<Given>['fill']): Shape<Given> => ({ make, fill })
/** It is immutable, so each request has another one. */
const fixed = <Given>(make: (word: string) => Given): Fixed<Given> => ({ makeOf: make })
export interface Fixed<Given = unknown> {
  readonly makeOf: (word: string) => Given
}

/** A class instance, whose members axios puts into the query. */
class Search {
  word = ''
  words: { word: string }[] = []
  get hidden(): string {
    return this.word
  }
}
/** An object that serializes itself as the query. */
class Query {
  #word = ''
  set(word: string): void {
    this.#word = word
  }
  toString(): string {
    return `own=${this.#word}`
  }
}
class OwnForm extends FormData {
  constructor() {
    super()
    this.append('class', 'own')
  }
}

function fillParams(params: URLSearchParams, word: string): void {
  for (const name of [...params.keys()]) params.delete(name)
  params.append('word', word)
  params.append('word', `${word} ü&`)
}

function fillForm(form: FormData, word: string): void {
  for (const name of [...form.keys()]) form.delete(name)
  form.append('word', word)
  form.append('word', `${word} ü`)
  form.append('file', new File([word], `${word}.txt`, { type: 'text/plain' }))
  form.append('blob', new Blob([word], { type: 'x/y' }), word)
}

interface Tree {
  word?: string
  list?: { word: string }[]
  at?: Date
}
function fillTree(tree: Tree, word: string): void {
  tree.word = word
  tree.list ??= [{ word }]
  tree.list[0]!.word = word
  tree.at ??= new Date(0)
  tree.at.setTime(Buffer.from(word).readUInt32BE(4))
}

const fillBytes = ({ buffer, byteOffset, byteLength }: ArrayBufferView, word: string) =>
  void Buffer.from(buffer, byteOffset, byteLength).write(word.repeat(byteLength / 8), 'latin1')
const bytes = (make: () => ArrayBufferView) => shape(make, fillBytes)

export const PARAMS = {
  none: fixed(() => undefined),
  plain: shape((): Tree => ({}), fillTree),
  'without a prototype': shape(() => Object.create(null) as Tree, fillTree),
  URLSearchParams: shape(() => new URLSearchParams(), fillParams),
  'of a class': shape(
    () => new Search(),
    (search, word) => Object.assign(search, { word, words: [{ word }] }),
  ),
  'with a query of its own': shape(
    () => new Query(),
    (query, word) => query.set(word),
  ),
}

export const DATA = {
  none: fixed(() => undefined),
  text: fixed((word) => word),
  plain: shape((): Tree => ({}), fillTree),
  URLSearchParams: shape(() => new URLSearchParams(), fillParams),
  FormData: shape(() => new FormData(), fillForm),
  'FormData of a class': shape(() => new OwnForm(), fillForm),
  Buffer: bytes(() => Buffer.alloc(24)),
  'a part of a Buffer': bytes(() => Buffer.allocUnsafe(64).subarray(8, 24)),
  ArrayBuffer: shape(
    () => new ArrayBuffer(16),
    (buffer, word) => fillBytes(new Uint8Array(buffer), word),
  ),
  Uint8Array: bytes(() => new Uint8Array(16)),
  Float64Array: bytes(() => new Float64Array(2)),
  'a part of a Uint16Array': bytes(() => new Uint16Array(new ArrayBuffer(64), 8, 16)),
  DataView: bytes(() => new DataView(new ArrayBuffer(32), 8, 16)),
  Blob: fixed((word) => new Blob([word], { type: 'text/x-own' })),
  File: fixed((word) => new File([word], 'own.txt', { type: 'text/x-own' })),
}

function fillHeaders(headers: Record<string, unknown>, word: string): void {
  for (const name of Object.keys(headers)) Reflect.deleteProperty(headers, name)
  Object.assign(headers, { 'X-Tenant': word, [`x-${word.slice(1)}`]: '1' })
}

export const HEADERS = {
  none: fixed(() => undefined),
  plain: shape((): Record<string, unknown> => ({}), fillHeaders),
  AxiosHeaders: shape(() => new AxiosHeaders(), fillHeaders),
}

/** The objects of a caller: each one is reused for the next request, if the caller shares them. */
export class Objects {
  readonly #isShared: boolean
  readonly #kept = new Map<unknown, unknown>()

  constructor(isShared: boolean) {
    this.#isShared = isShared
  }

  /** @returns An object of this shape that holds the word. */
  give(form: Form, word: string): unknown {
    if ('makeOf' in form) return form.makeOf(word)
    const given = (this.#isShared ? this.#kept.get(form) : undefined) ?? form.make()
    if (this.#isShared) this.#kept.set(form, given)
    form.fill(given, word)
    return given
  }

  /** Changes everything that can be changed. */
  scramble(form: Form, given: unknown): void {
    if ('makeOf' in form) return
    form.fill(given, SCRAMBLED)
    if (this.#isShared || ArrayBuffer.isView(given)) return
    Object.assign(given as object, { toString: () => SCRAMBLED, [SCRAMBLED]: SCRAMBLED })
    Object.setPrototypeOf(given, null)
  }
}
