import { describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'

/** @returns The members of an interface, in the order of the source. */
function membersOf(file: string, name: string): string[] {
  const [, body = ''] = new RegExp(`^export interface ${name} \\{\n(.*?)^\\}`, 'ms').exec(readFileSync(file, 'utf8'))!
  return Array.from(body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm), ([, member]) => member!)
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
