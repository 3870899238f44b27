// Part of npm run lint: warns of texts that have grown, and of long sentences. A limit of taste fails nothing: the next correct sentence may be worth it.
import { readdirSync, readFileSync } from 'node:fs'

const AUDITORS = /^docs\/(benchmarks|faults|mutation|proof|protocol|scorecard)\.md$/
const pages = readdirSync('docs', { recursive: true })
  .map((name) => `docs/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.md') && !AUDITORS.test(name))
const forUsers = ['README.md', 'SECURITY.md', ...pages]
const textOf = (name) => readFileSync(name, 'utf8').trim()
const proseOf = (name) => textOf(name).replace(/^( *)```.*?^\1```$/gms, '')
const wordsIn = (names, read = textOf) => names.map(read).join('\n').split(/\s+/).length
const linesIn = (text) => text.split('\n').filter((line) => line !== '').length
const programsOf = (name) => Array.from(textOf(name).matchAll(/^```ts\n(.*?)^```/gms), ([, code]) => code)

/** @returns The sentences of a page, without code and the addresses of links. An item of a list and a cell of a table end a sentence, too. */
function sentencesOf(name) {
  const prose = proseOf(name).replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
  const blocks = prose.split(/\n\s*\n|\n(?=\s*(?:-|\d+\.) )|\|/)
  return blocks.flatMap((block) => block.split(/(?<=[.!?:]['")*_]*)\s+(?=[A-Z`*_(])/))
}

const [first, second] = programsOf('docs/oauth2.md').map(linesIn)
const limits = [
  ['words of README.md', wordsIn(['README.md']), 650],
  ['lines of README.md', textOf('README.md').split('\n').length, 90],
  ['words of docs/frameworks.md', wordsIn(['docs/frameworks.md']), 700],
  ['lines of the first program of docs/oauth2.md', first, 8],
  ['lines of the second program of docs/oauth2.md', second, 10],
  ['words of README.md, SECURITY.md and all pages for users', wordsIn(forUsers), 33_000],
  ['words of them outside of code', wordsIn(forUsers, proseOf), 23_250],
]
for (const [what, count, most] of limits) if (count > most) console.warn(`warning: ${count} ${what}, more than ${most}`)

const MOST_WORDS = 35
for (const name of forUsers)
  for (const sentence of sentencesOf(name)) {
    const words = sentence.split(/\s+/).filter((word) => /\w/.test(word))
    if (words.length > MOST_WORDS)
      console.warn(`warning: ${name}: a sentence of ${words.length} words: ${words.slice(0, 8).join(' ')} …`)
  }
