import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A block of code of a document, as its reader would put it into a file. */
export interface CodeBlock {
  /** Document and number of the block in it. */
  readonly name: string
  readonly code: string
}

export const documents = ['README.md', ...readdirSync('docs').map((name) => join('docs', name))].filter((name) =>
  name.endsWith('.md'),
)

export function fences(language: string, text: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map((match) => match[1]!)
}

/** Blocks in TypeScript, and what a diff leads to. */
export function codeBlocks(): CodeBlock[] {
  return documents.flatMap((document) => {
    const text = readFileSync(document, 'utf8')
    const changed = fences('diff', text).map((diff) => diff.replace(/^-.*\n/gm, '').replace(/^[+ ]/gm, ''))
    return [...fences('ts', text), ...changed].map((code, n) => ({ name: `${document} ${n + 1}`, code }))
  })
}

/** What a document takes for granted: names that a block uses and does not declare. */
export function prelude(code: string, { typed }: { typed: boolean }): string {
  const given = {
    axios: ["import axios from 'axios'", "import axios from 'axios'"],
    server: ["declare const server: import('node:http').Server", "import { server } from './given.mjs'"],
    tokens: ["declare const tokens: import('axios-evergreen').TokenManager", "import { tokens } from './given.mjs'"],
    logIn: [
      "declare const logIn: () => Promise<import('axios-evergreen').TokenGrant>",
      "import { logIn } from './given.mjs'",
    ],
    api: ["declare const api: import('axios').AxiosInstance", "import { api } from './given.mjs'"],
  }
  return Object.entries(given)
    .filter(([name]) => new RegExp(`\\b${name}\\b`).test(code))
    .filter(([name]) => !new RegExp(`\\b(const|let|import|import \\{[^}]*)\\s*${name}\\b`).test(code))
    .map(([, [declared, imported]]) => `${typed ? declared : imported}\n`)
    .join('')
}
