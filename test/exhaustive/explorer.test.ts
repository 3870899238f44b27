import { describe, expect, it } from '@jest/globals'
import { explored } from './explored.ts'
import { PLACES } from './reached.ts'
import { SMALL_SCOPES } from './scopes.ts'

describe('given owners that share a record in a register (docs/evidence/protocol.md)', () => {
  const exploring = explored('--small')
  exploring.catch(() => undefined)

  it.each(SMALL_SCOPES.map(({ name }) => name))(
    'when there is %s, then no order of events breaks a rule',
    async (name) => {
      const found = (await exploring).find(({ scope }) => scope === name)
      expect(found).toMatchObject({ isCut: false })
      expect(found).not.toHaveProperty('violation')
      expect(found!.ends).toBeGreaterThan(0)
    },
  )

  it('when all of these are searched, then every rule, fate and result of a lease was reached', async () => {
    const reached = new Set((await exploring).flatMap((found) => found.reached))
    expect(PLACES.filter((place) => !reached.has(place))).toEqual([])
  })
})
