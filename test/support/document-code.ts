import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { entries as sources } from '../../scripts/lib/entries.mjs'

/** A block of code from a document or a docstring, as a reader would put it into a file. */
export interface CodeBlock {
  /** Document and number of the block in it, or the function whose example it is. */
  readonly name: string
  readonly code: string
}

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, { import?: { types: string } }>
}

export const documents = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name)),
].filter((name) => name.endsWith('.md'))

export function fences(language: string, text: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map((match) => match[1]!)
}

/** @returns The blocks in TypeScript, and the code after each diff. */
export function codeBlocks(): CodeBlock[] {
  return documents.flatMap((document) => {
    const text = readFileSync(document, 'utf8')
    const changed = fences('diff', text).map((diff) => diff.replace(/^-.*\n/gm, '').replace(/^[+ ]/gm, ''))
    return [...fences('ts', text), ...changed].map((code, n) => ({ name: `${document} ${n + 1}`, code }))
  })
}

/** @returns The blocks in JavaScript, including JSX: for browser pages, for frameworks and for phones. */
export function scriptBlocks(): CodeBlock[] {
  return documents.flatMap((document) => {
    const text = readFileSync(document, 'utf8')
    const blocks = [...fences('js', text), ...fences('jsx', text)]
    return blocks.map((code, n) => ({ name: `${document} script ${n + 1}`, code }))
  })
}

/** @returns The shell commands of all documents. */
export function commands(): CodeBlock[] {
  return [...documents, 'CONTRIBUTING.md'].flatMap((document) =>
    fences('sh', readFileSync(document, 'utf8')).map((code, n) => ({ name: `${document} ${n + 1}`, code })),
  )
}

/** The source file of each entry of the package. */
export const entries: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(exports).flatMap(([subpath, { import: built }]) => {
    if (built === undefined) return [] // package.json
    const name = basename(built.types, '.d.ts')
    return [[join('axios-evergreen', subpath), `./${sources[name]!}`]]
  }),
)

/** @returns Declarations of the names that a block uses but does not declare. */
export function prelude(code: string, { typed }: { typed: boolean }): string {
  const given = {
    axios: ["import axios from 'axios'", "import axios from 'axios'"],
    server: ["declare const server: import('node:http').Server", "import { server } from './given.mjs'"],
    tokens: [
      "declare const tokens: import('axios-evergreen/login').LoginManager",
      "import { tokens } from './given.mjs'",
    ],
    logIn: [
      "declare const logIn: () => Promise<import('axios-evergreen').TokenGrant>",
      "import { logIn } from './given.mjs'",
    ],
    api: ["declare const api: import('axios').AxiosInstance", "import { api } from './given.mjs'"],
    // These are for docstrings, which are not run. A page that uses these names must declare them.
    source: ["declare const source: import('axios-evergreen').TokenSource", ''],
    provider: ['declare const provider: object', ''],
    register: ["declare const register: import('axios-evergreen/store').TokenRegister", ''],
    document: ['declare const document: { body: { append(...nodes: never[]): void } }', ''],
    SharedWorker: [
      'declare const SharedWorker: new (...given: unknown[]) => { port: { postMessage(data: unknown): void } }',
      '',
    ],
  }
  return Object.entries(given)
    .filter(([name]) => new RegExp(`\\b${name}\\b`).test(code))
    .filter(([name]) => !new RegExp(`\\b(const|let|import|import \\{[^}]*)\\s*${name}\\b`).test(code))
    .map(([, [declared, imported]]) => `${typed ? declared : imported}\n`)
    .join('')
}
