import { describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** @returns The members of an interface, in the order of the source. */
function membersOf(file: string, name: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const found = source.statements.find(
    (one): one is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(one) && one.name.text === name,
  )
  return found!.members.map((member) => member.name!.getText(source))
}

describe('given docs/evidence/protocol.md', () => {
  it('when its table of the record is read, then it has the members of RecordState, and no other', () => {
    const [, section = ''] = readFileSync('docs/evidence/protocol.md', 'utf8').split('\n## The record\n')
    const named = Array.from(section.split('\n\n')[0]!.matchAll(/^\| (`[^|]*)/gm), ([, cell]) =>
      Array.from(cell!.matchAll(/`(\w+)`/g), ([, member]) => member!),
    ).flat()
    expect(named.sort()).toEqual(membersOf('src/record/record-shape.ts', 'RecordState').sort())
  })
})
