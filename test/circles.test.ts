import { describe, expect, it } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const SOURCES = ['src', 'tools'].flatMap((house) =>
  readdirSync(house, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(house, name)),
)

type Imports = Readonly<Record<string, readonly string[]>>

/** The imports of each file from this package, including types. */
const IMPORTS: Imports = Object.fromEntries(
  SOURCES.map((file) => [
    file,
    [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path]) => join(dirname(file), path!)),
  ]),
)

/** What remains after repeatedly removing files that import no remaining file, or that no remaining file imports. */
function circlesIn(imports: Imports, files = Object.keys(imports)): readonly string[] {
  const imported = new Set(files.flatMap((file) => imports[file]!))
  const left = files.filter((file) => imported.has(file) && imports[file]!.some((other) => files.includes(other)))
  return left.length === files.length ? left : circlesIn(imports, left)
}

describe('given the files of src and tools, which tell one idea each', () => {
  it('when imports are followed, then there is no cycle', () => {
    expect(SOURCES.length).toBeGreaterThan(100)
    expect(circlesIn(IMPORTS)).toEqual([])
  })

  it('when two of four files import each other, then these two are named', () => {
    expect(circlesIn({ a: ['b', 'c'], b: ['a'], c: [], d: ['a'] })).toEqual(['a', 'b'])
  })
})
