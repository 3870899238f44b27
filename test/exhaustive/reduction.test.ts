import { describe, expect, it } from '@jest/globals'
import { part } from '../support/part.ts'
import { explored } from './explored.ts'

describe('given owners whose vain attempts leave no trace in the state of the search (docs/evidence/protocol.md)', () => {
  it.each(part(['a freeze', 'an older record', 'obtain ends, a crash'], ['a freeze']))(
    'when there is %s, then the search reaches the same places and records as without this reduction, in fewer states',
    async (name) => {
      const [reduced] = await explored('--scope', name)
      const [plain] = await explored('--scope', name, '--plain')
      expect(reduced).toMatchObject({ isCut: false, recordsHash: plain!.recordsHash, reached: plain!.reached })
      expect(reduced!.records).toBe(plain!.records)
      expect(reduced!.states).toBeLessThan(plain!.states)
    },
  )
})
