import { describe, expect, it } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'

interface Row {
  readonly number: string
  readonly promise: string
  readonly proof: string
}

const text = readFileSync('docs/evidence/faults.md', 'utf8')
const rows: Row[] = [...text.matchAll(/^\| ([FP]\d+) +\| (.+?) +\| (.+?) +\|$/gm)].map(
  ([, number, promise, proof]) => ({ number: number!, promise: promise!, proof: proof! }),
)
const open: readonly string[] =
  text
    .split('\n## Still to be proved\n')[1]
    ?.split('\n## ')[0]
    ?.match(/\b[FP]\d+\b/g) ?? []
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }

/** The order of the catalogue: F1 to F435, then P1 to P23. */
function byNumber(one: string, other: string): number {
  return one.charCodeAt(0) - other.charCodeAt(0) || Number(one.slice(1)) - Number(other.slice(1))
}

/** @returns The titles of tests, including tables: the first arguments of `it`, `test`, `describe` and their variants. */
function titlesOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const call = /(?:\b(?:it|test|describe\w*)\b[^'"`]*?|\))\(\s*(['"`])((?:(?!\1).)*)\1/gs
  return [...text.matchAll(call)].map((match) => match[2]!)
}

describe('given docs/evidence/faults.md', () => {
  it('then it has every row of the catalogue once, or lists it among those still to be proved', () => {
    // F412 was found to be no fault.
    const faults = Array.from({ length: 435 }, (_, n) => `F${n + 1}`).filter((number) => number !== 'F412')
    const figures = Array.from({ length: 23 }, (_, n) => `P${n + 1}`)
    const proved = rows.map(({ number }) => number)
    expect([...proved].sort(byNumber)).toEqual([...faults, ...figures].filter((number) => !open.includes(number)))
  })

  it.each(rows)('then the proof of $number exists and carries its number', ({ number, proof }) => {
    const files = [...proof.matchAll(/`(test\/[\w./-]+)`/g)].map((match) => match[1]!)
    const commands = [...proof.matchAll(/`npm run ([\w:-]+)/g)].map((match) => match[1]!)
    expect(files.length + commands.length).toBeGreaterThan(0)
    expect(commands.filter((name) => !(name in scripts))).toEqual([])
    expect(files.filter((file) => !existsSync(file))).toEqual([])
    const titled = (file: string) => titlesOf(file).some((title) => new RegExp(`\\b${number}\\b`).test(title))
    expect(files.filter((file) => !titled(file))).toEqual([])
  })
})
