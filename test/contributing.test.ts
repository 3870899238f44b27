import { describe, expect, it } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const text = readFileSync('CONTRIBUTING.md', 'utf8')

describe('given CONTRIBUTING.md', () => {
  it('when its table of rooms is read, then it matches the import rules of the linter (node scripts/show-files.mjs writes it)', () => {
    const script = "console.log((await import('./scripts/lib/rooms-table.mjs')).roomsTable())"
    const made = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    const [, shown = ''] = /<!-- table: rooms -->\n(.*?)<!-- \/table: rooms -->/s.exec(text) ?? []
    const cells = (table: string) =>
      table
        .trim()
        .split('\n')
        .map((line) => line.split('|').map((cell) => cell.trim().replace(/^-+$/, '-')))
    expect(cells(shown)).toEqual(cells(made))
  })

  it('when a newcomer reads it, then it is short, and each file that it names exists', () => {
    expect(text.match(/\S*[\p{L}\p{N}]\S*/gu)!.length).toBeLessThanOrEqual(800)
    const named = Array.from(text.matchAll(/`((?:src|tools|test|scripts|bench|docs)\/[\w./-]+)`/g), ([, path]) => path!)
    expect(named.length).toBeGreaterThan(20)
    const all = new Set(
      ['src', 'tools', 'test', 'scripts', 'bench', 'docs'].flatMap((folder) => [
        folder,
        ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) =>
          join(folder, path).replaceAll('\\', '/'),
        ),
      ]),
    )
    expect(named.filter((path) => !all.has(path))).toEqual([])
  })
})
