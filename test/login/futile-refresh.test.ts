import { describe, expect, it } from '@jest/globals'
import { memoryStore } from '../../src/index.ts'
import { asked, loginOf, open } from '../support/people.ts'

describe('given Alice who has logged in here, and Bob elsewhere in the same store', () => {
  it.each(['reset', 'logout'] as const)(
    'when the login here ends by %s, and a caller asks for a token at once, then that caller gets the token of Bob, and his refresh token is not presented',
    async (act) => {
      const store = memoryStore()
      const here = open(store)
      const there = open(store, here.clock)
      await here.tokens.adopt(loginOf('alice', 'alice'))
      await there.tokens.adopt(loginOf('bob', 'bob'))
      const ended = here.tokens[act]()
      const waiting = asked(here.tokens.getAccessToken())
      await ended
      await here.clock.advance(5_000)
      expect([await waiting, here.source.kinds, there.source.kinds]).toEqual(['bob', '', ''])
    },
  )
})
