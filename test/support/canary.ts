import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { format, inspect } from 'node:util'
import { expect, jest } from '@jest/globals'

/** Part of every marked secret, and of nothing else, such as the path of a file in a stack. */
const WORD = 'canary-'

/** Finds the mark in plain text, in hex, and at any position of a base64 text. */
export const CANARY = new RegExp([WORD, Buffer.from(WORD).toString('hex'), ...[0, 1, 2].map(base64Core)].join('|'), 'i')

/** @returns The base64 digits of the word that depend on no neighbour, if `before` bytes (modulo 3) come before the word. */
function base64Core(before: number): string {
  const encoded = Buffer.from('\0'.repeat(before) + WORD).toString('base64')
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + WORD.length) * 8) / 6))
}

/** @returns All texts that a log could make of a value, including hidden members and the chain of causes. */
export function logged(what: unknown): string {
  const forms = []
  for (let link = what; link !== undefined && link !== null; link = (link as Error).cause)
    forms.push(
      inspect(link, { depth: Infinity, showHidden: true, maxStringLength: Infinity, maxArrayLength: Infinity }),
      inspect(Object.getOwnPropertyDescriptors(link), { depth: Infinity, showHidden: true }),
      (link as Error).stack,
      (link as Error).message,
      JSON.stringify(link),
      JSON.stringify(Object.entries(link)),
      `${link as Error}`,
      format('%s %o %O %j', link, link, link, link),
      inspect(cloned(link), { depth: Infinity, showHidden: true }),
    )
  return joined(forms)
}

/** @returns What users may print of an axios response or error. */
export function printed(value: object): string {
  const { stack, message, cause } = value as Partial<Error>
  // Only an error has a `toJSON`. A response may contain itself through its request, so JSON gets it without those members.
  const plain = 'toJSON' in value ? value : { ...value, config: undefined, data: undefined }
  return joined([
    consoleLogged(value),
    consoleLogged('%s %O %j', value, value, plain),
    inspect(value),
    inspect(value, { depth: 6 }),
    inspect(value, { depth: Infinity }),
    JSON.stringify(plain),
    message,
    stack,
    inspect(cause, { depth: Infinity }),
    inspect(cloned(value), { depth: Infinity }),
  ])
}

/** Stacks contain the path of this folder, which could look like a find. */
function joined(forms: unknown[]): string {
  return forms.join('\n').replaceAll(process.cwd(), '.')
}

/** @returns What console.log writes. */
export function consoleLogged(...values: unknown[]): string {
  let text = ''
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString()
      done()
    },
  })
  new Console({ stdout: sink }).log(...values)
  return text
}

/** A failure shows only the text around the find, because the whole text may have megabytes. */
export function expectNoCanary(text: string): void {
  const at = text.search(CANARY)
  expect(at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 100)).toBe('')
}

/** Records until the test ends. @returns Everything that was written to the console, to stdout and to stderr. */
export function recordOutput(): () => string {
  const names = ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const
  const consoles = names.map((name) => jest.spyOn(console, name).mockImplementation(() => undefined))
  const streams = [process.stdout, process.stderr].map((stream) => jest.spyOn(stream, 'write').mockReturnValue(true))
  const text = (written: unknown) => (Buffer.isBuffer(written) ? written.toString() : written)
  return () =>
    [...consoles, ...streams].flatMap(({ mock }) => mock.calls.map((call) => format(...call.map(text)))).join('\n')
}

/** @returns The value as another thread receives it; undefined if it cannot be sent. */
function cloned(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return undefined
  }
}
