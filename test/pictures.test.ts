import { describe, expect, it } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const PACKAGE = '#0f766e'
const MOST_BYTES = 60_000

interface Results {
  scenarios: Record<string, { results: never }>
}
const results = JSON.parse(readFileSync('bench/results.json', 'utf8')) as Results

/** @returns The sentence that `bench/lib/findings.mjs` makes of results, for each name with its arguments. */
function findings(asked: [name: string, ...args: unknown[]][]): string[] {
  const script = `
    import * as findings from './bench/lib/findings.mjs'
    const asked = JSON.parse(process.argv[1])
    console.log(JSON.stringify(asked.map(([name, ...args]) => findings[name](...args))))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(asked)])
  return JSON.parse(printed.toString()) as string[]
}

describe('given results of the bench', () => {
  const calls = (ours: number, theirs: number) => ({
    callers: [1, 1_000],
    storms: { cold: { 1_000: { 'axios-evergreen': { calls: ours }, 'axios-jwt': { calls: theirs } } } },
  })
  const waits = (waited: number) => ({ requests: 1_000, waited })

  it.each<[says: string, name: string, ...args: unknown[]]>([
    ['1 000 callers without a token cost 1 token call with axios-evergreen; with axios-jwt 7', 'stampede', calls(1, 7)],
    ['1 000 callers without a token cost 9 token calls with axios-evergreen', 'stampede', calls(9, 7)],
    [
      'A fresh token of axios-evergreen costs a request 25 % (here) more processor time than a constant header; noise is up to 2 %',
      'hotPath',
      { settings: { a: { quiet: { 'axios-evergreen': { median: 1.25 }, 'A/A': { median: 0.98 } } } } },
      { a: 'here' },
    ],
    [
      'While tokens of 2 s rotate, 5 requests of 1 000 had to wait for one with axios-evergreen; with others 1.2 % to 3.0 % had to',
      'rotation',
      {
        contestants: {
          'static header': waits(3),
          'A/A': waits(3),
          'axios-evergreen': waits(8),
          'axios-jwt': waits(30),
          other: waits(12),
        },
      },
      2_000,
    ],
    [
      'With tokens of 60 s, no call notices an outage shorter than 4 s, and none fails in any',
      'outage',
      {
        felt: [
          { seconds: 3, delayed: 0, failed: 0 },
          { seconds: 4, delayed: 0.1, failed: 0 },
        ],
      },
      60,
    ],
    [
      '1 of 2 costs grows faster than what causes it: the steepest slope is 1.30, and 1 is linear',
      'growth',
      { curves: [{ slope: 1.3 }, { slope: 0.9 }] },
      1.1,
    ],
  ])('when a title is made, then it says: %s', (says, name, ...args) => {
    expect(findings([[name, ...args]])).toEqual([says])
  })

  it('when the pictures are looked at, then they show those that are committed', () => {
    const named: Record<string, [name: string, ...more: unknown[]]> = {
      stampede: ['stampede'],
      rotation: ['rotation', 2_000],
      outage: ['outage', 60],
      growth: ['growth', 1.1],
    }
    const said = findings(
      Object.entries(named).map(([scenario, [name, ...more]]) => [name, results.scenarios[scenario]!.results, ...more]),
    )
    expect(Object.keys(named).map((scenario) => titleOf(`bench-${scenario}.svg`))).toEqual(said)
  })

  it('when contestants are compared, then the colour of the package is on nothing but the package', () => {
    const marks = (name: string) =>
      svg(name)
        .split('</style>')[1]!
        .match(new RegExp(`"${PACKAGE}"`, 'g'))
    expect(marks('bench-stampede.svg')).toHaveLength(2)
    expect(marks('bench-rotation.svg')).toHaveLength(1)
    // A dot and a line in each of three settings.
    expect(marks('bench-hot-path.svg')).toHaveLength(6)
  })
})

describe('given the pictures of the documents', () => {
  const pictures = readdirSync('docs/images').filter((name) => name.endsWith('.svg'))
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))

  it('when they are shown, then each is small, has a title, and is readable on dark pages, too', () => {
    for (const name of pictures) {
      expect({ name, isSmall: Buffer.byteLength(svg(name)) < MOST_BYTES }).toEqual({ name, isSmall: true })
      expect(titleOf(name)).toMatch(/\w+ \w+/)
      expect(svg(name)).toContain('@media (prefers-color-scheme: dark)')
    }
  })

  it('when they are not seen, then a text stands for each, and a caption below', () => {
    const shown = pages.flatMap((page) => {
      const blocks = readFileSync(`docs/${page}`, 'utf8').split('\n\n')
      return blocks.flatMap((block, n) => {
        const [, alt, name] = /^!\[([^\]]*)\]\((?:\.\.\/)?images\/([\w-]+\.svg)\)$/.exec(block) ?? []
        if (name !== undefined) expect(alt).toBe(titleOf(name))
        if (name === undefined && !block.startsWith('```mermaid')) return []
        expect(blocks[n + 1]).toMatch(/^_[^_].{40,}[^_]_$/s)
        return name ?? []
      })
    })
    expect(shown.sort()).toEqual(pictures)
  })
})

function svg(name: string) {
  return readFileSync(`docs/images/${name}`, 'utf8')
}

function titleOf(name: string) {
  return /<title id="title">([^<]*)<\/title>/.exec(svg(name))?.[1]
}
